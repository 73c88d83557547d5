"""How people talk about a table in a restaurant: our wordings, put together by `phrasing.py`.

In templates, `{}` is the detail in words; `a(n)` becomes `a` or `an`.
"""

from __future__ import annotations

from tacit.envs.grammar import Grammar

NOUNS = {
    "cuisine": Grammar(
        "[the|your] cuisine",
        "the [kind|sort|type] of food",
        "the cooking you [prefer|are after]",
        "the style of cooking",
    ),
    "city": Grammar(
        "the [city|town]", "the [place|location]", "the city you have in mind", "the whereabouts"
    ),
    "party": Grammar(
        "the number of [people|guests|diners]",
        "the size of [your|the] party",
        "the number of seats",
        "the head count",
    ),
    "price": Grammar(
        "the price [range|level|class]",
        "your [budget|price range]",
        "the budget you have in mind",
        "the sort of prices you expect",
    ),
}
"""What the informative question asks for, as nouns."""

WHICH = {
    "cuisine": Grammar(
        "[which|what] cuisine",
        "[what|which] [kind|sort|type] of food",
        "what food you would like",
        "whose cooking you fancy",
    ),
    "city": Grammar("[which|what] city", "which town", "where it should be", "in what place"),
    "party": Grammar(
        "how many [people|guests|diners]",
        "for how many",
        "how many [of you|seats]",
        "how large your group is",
    ),
    "price": Grammar(
        "[which|what] price range",
        "what [budget|price level]",
        "how much you [want|would like] to spend",
        "how dear it may be",
    ),
}
"""The same as questions."""

PIECES = {
    "cuisine": Grammar(
        "{} food",
        "{} cuisine",
        "[something|anything] {}",
        "{} cooking",
        "a(n) {} [place|restaurant]",
        "{} dishes",
        "a(n) {} kitchen",
        "a(n) {} menu",
    ),
    "city": Grammar(
        "in {}",
        "[somewhere|anywhere] in {}",
        "a place in {}",
        "[located|right] in {}",
        "{} [as the city|is the city]",
        "the city is {}",
        "in the city of {}",
        "in {} [itself|of course]",
    ),
    "party": Grammar(
        "for {}",
        "a table for {}",
        "{} people",
        "for {} people",
        "{} guests",
        "seats for {}",
        "a party of {}",
        "{} diners",
    ),
    "price": Grammar(
        "in the {} price range",
        "{} prices",
        "[something|anything] {}",
        "with {} prices",
        "a(n) {} [place|restaurant]",
        "in a(n) {} price range",
        "price range {}",
        "{} is our budget",
    ),
}
"""What the user answers, in pieces of a list."""

CLAUSES = {
    "cuisine": Grammar(
        "[We|I] would [like|love] {} food.",
        "[I am|We are] in the mood for {} food.",
        "Make it {} [cuisine|cooking].",
        "[We are|I am] craving {} dishes.",
        "[I|We] love {} food.",
        "The food should be {}.",
        "[We|I] fancy {} [cuisine|food].",
        "{} cooking would be [great|ideal].",
    ),
    "city": Grammar(
        "It should be in {}.",
        "We [will be|are staying] in {}.",
        "Please look in {}.",
        "[Somewhere|A place] in {} would be good.",
        "The city is {}.",
        "We are going to {}.",
        "We will meet in {}.",
        "It has to be {}.",
    ),
    "party": Grammar(
        "There will be {} of us.",
        "We are {} people.",
        "[It is|That is] for {}.",
        "We are a group of {}.",
        "[A|The] table is for {}.",
        "We will be {}.",
        "[We need|I need] a table for {}.",
        "Expect {} guests.",
    ),
    "price": Grammar(
        "The price range is {}.",
        "[Something|A place that is] {}, please.",
        "It should be {}.",
        "A(n) {} restaurant, please.",
        "[I am|We are] looking for a(n) {} restaurant.",
        "We want a(n) {} place.",
        "Prices should be {}.",
        "Think of something {}.",
    ),
}
"""What the user answers, in sentences."""

BOOKINGS = Grammar(
    "Booking a table for {party} at a(n) {price} {cuisine} restaurant in {city}.",
    "I [have reserved|am reserving] a(n) {price} {cuisine} place in {city} for {party} people.",
    "[Your reservation|The reservation]: {cuisine} food in {city}, {party} people, {price} price range.",
    "[Right|OK], a table for {party} in {city}: {cuisine} cooking at {price} prices.",
    "[Done|All set|Settled]: a(n) {cuisine} restaurant in {city} for {party}, {price} price range.",
    "I [found|picked] a(n) {price} restaurant in {city} with {cuisine} cuisine and booked it for {party}.",
    "[Reserving|Holding] {party} seats at a(n) {cuisine} restaurant in {city}, price range {price}.",
    "In {city}, a(n) {price} restaurant with {cuisine} food [expects|is expecting] you, a party of {party}.",
    "A table in {city} for {party} is [yours|booked]: {cuisine} dishes, {price} prices.",
    "[I am booking|I booked] {cuisine} food for {party} in {city}, in the {price} price range.",
    "Restaurant in {city}, {cuisine} cuisine, {price}, table for {party}: [booked|confirmed|reserved].",
    "You are expected in {city}: {party} guests, {cuisine} menu, {price} prices.",
    "[Here is|This is] your booking: {price} {cuisine} restaurant, {city}, {party} people.",
    "We keep a table for {party} for you at a(n) {price} place in {city} that serves {cuisine} food.",
    "[Confirmed|Noted]: {city}, {cuisine} kitchen, {price} price range, {party} people.",
    "A(n) {cuisine} dinner for {party} in {city} at {price} prices is now on the books.",
)
"""How a booking reads; all candidates of a dialogue share one wording."""

TOPICS = (
    (
        "[Will you need parking|Are you coming by car|Should I look for parking nearby]?",
        "[No, we will walk.|Yes, we will drive.|We come by bus, so no.|Parking nearby would help, yes.]",
    ),
    (
        "[Do you enjoy live music|Should there be live music|Do you mind music while you eat]?",
        "[Music is always nice.|We do not mind either way.|Only if it is not too loud.|I prefer it quiet.]",
    ),
    (
        "[Do you read restaurant reviews|Shall I show you some reviews|Do you trust online reviews]?",
        "[I never read them.|Only now and then.|Yes, reviews are fun to read.|Friends tell me more than reviews.]",
    ),
    (
        "[Will you dress up|Do you care about a dress code|Would a dress code bother you]?",
        "[We will come as we are.|We like to dress up a little.|Casual clothes, I think.|A dress code is fine.]",
    ),
    (
        "[Do you have a loyalty card|Are you in our bonus programme|Do you collect points with us]?",
        "[No, I have no card.|Yes, somewhere in my bag.|I would rather not join.|I collect points, sure.]",
    ),
    (
        "[Are you celebrating something|Is there a special occasion|Is it somebody's birthday]?",
        "[No, just an ordinary meal.|Yes, a birthday.|Yes, an anniversary.|No occasion, we are just hungry.]",
    ),
    (
        "[Do you like candles on the table|Should the lights be low|Do you prefer candlelight]?",
        "[Candles are lovely.|Bright is better for my eyes.|It does not matter to us.|Low lights, how romantic.]",
    ),
    (
        "[Would you sit by a window|Do you like to look outside while eating|Do you need a view]?",
        "[A window would be nice.|No, any table will do.|We will be talking anyway.|A view is a pleasure.]",
    ),
    (
        "[Do you often eat out|Do you eat in restaurants a lot|Is eating out a habit of yours]?",
        "[Not as often as I would like.|All the time.|Now and then.|Hardly ever, to be honest.]",
    ),
    (
        "[Do you prefer sparkling or still water|Shall we have water on the table|How do you like your water]?",
        "[Still water, please.|Sparkling is my favourite.|Tap water is fine.|No matter, as long as it is cold.]",
    ),
    (
        "[Do you like to see the kitchen|Would an open kitchen be fun for you|Do you enjoy watching the chef]?",
        "[Yes, I love watching cooks.|No, it gets too warm.|That would be fun.|I would rather watch my friends.]",
    ),
    (
        "[How did you hear about us|Who told you about our service|Where did you find us]?",
        "[A friend told me.|I saw an advert.|I found you on the internet.|My sister uses you all the time.]",
    ),
    (
        "[Do you want to get our newsletter|May we send you our news|Shall I sign you up for news]?",
        "[No, thank you.|Yes, why not.|I get enough mail already.|Please do.]",
    ),
    (
        "[Do you cook at home|Are you a good cook yourself|Do you like cooking]?",
        "[I burn everything.|Yes, with passion.|Only when I must.|My partner does the cooking.]",
    ),
    (
        "[Do you like flowers on the table|Shall there be fresh flowers|Do flowers matter to you]?",
        "[Flowers would be charming.|No, they make me sneeze.|I would not notice them.|If it is no trouble.]",
    ),
    (
        "[Do you tip in cash|How do you usually tip|Do you like to leave a tip by card]?",
        "[In cash, mostly.|I tip by card.|I round up.|That depends on the service.]",
    ),
    (
        "[Do you know any famous chefs|Which chef do you admire|Do you watch cooking shows]?",
        "[I watch them all.|No, I do not follow that.|I admire my grandmother.|Chefs on TV shout too much.]",
    ),
    (
        "[Should the chairs be soft|Do you like sitting on a bench|What chairs do you find comfortable]?",
        "[Soft chairs, for my back.|I can sit on anything.|A bench is cosy.|I never thought about it.]",
    ),
    (
        "[Do you take pictures of your food|Do you post your meals online|Will you be taking photos]?",
        "[Always, I confess.|Never, I just eat.|My daughter does.|Perhaps of the dessert.]",
    ),
    (
        "[Do you like old buildings|Should the room be modern|What decor do you find pretty]?",
        "[Something with history.|Modern is nice and clean.|I do not look at the walls.|Wood and old stone.]",
    ),
    (
        "[Is there a menu in large print you need|Do you like paper menus|Would a menu on a phone bother you]?",
        "[Paper, please.|A phone is fine.|I left my glasses at home, so large print.|I usually let others order.]",
    ),
    (
        "[Do you enjoy dessert|Are you fond of sweets|Is dessert important to you]?",
        "[Dessert is the best part.|I skip it, usually.|Only if there is chocolate.|I am always too full.]",
    ),
    (
        "[Are you fond of wine|Should there be a good wine list|Do you know a lot about wine]?",
        "[I know nothing about wine.|A good list would be a plus.|I do not drink.|Red, if anything.]",
    ),
    (
        "[Will you bring a dog|Do you have pets with you|Should dogs be welcome]?",
        "[No pets.|Our dog stays at home.|Yes, a very small dog.|I am allergic to dogs, actually.]",
    ),
    (
        "[Do you like to talk with the waiter|How chatty should the staff be|Do you enjoy friendly staff]?",
        "[Friendly staff is nice.|I like to be left alone.|A little chat is welcome.|As long as they smile.]",
    ),
    (
        "[Do you need a coat rack|Should there be a cloakroom|Will you have coats to hang up]?",
        "[A hook is enough.|No coats in this weather.|A cloakroom would be handy.|We travel light.]",
    ),
    (
        "[Do you prefer round tables|Is a square table all right|What shape of table do you like]?",
        "[Round is better for talking.|Any shape will do.|Square is fine.|I had no idea that I can choose.]",
    ),
    (
        "[Do you need wireless internet there|Will you be working at the table|Do you need the wifi password]?",
        "[No, phones stay in the pocket.|Yes, I have to check my mail.|Not really.|That would be useful.]",
    ),
    (
        "[Do you like an early look at the menu|Shall I describe the menu in general|Do you study menus beforehand]?",
        "[I like surprises.|Yes, I study them for hours.|No need.|I will see it there.]",
    ),
    (
        "[What is your favourite colour for napkins|Do you prefer cloth napkins|Are paper napkins all right]?",
        "[Cloth feels nicer.|Paper is fine.|Blue, I suppose.|What an odd question.]",
    ),
    (
        "[How is the weather where you are|Is it raining at your place|Do you like this weather]?",
        "[It is raining.|Sunny and warm.|Grey, as usual.|I have not looked outside.]",
    ),
    (
        "[Would you take a short survey later|May we ask for your opinion afterwards|Will you rate our service]?",
        "[If it is short.|No, I am busy.|Sure, I can do that.|Perhaps later.]",
    ),
    (
        "[Do you use chopsticks well|Are you good with chopsticks|Do you like eating with your hands]?",
        "[Not at all.|Quite well, yes.|A fork is safer.|I am learning.]",
    ),
    (
        "[Do you like trying new places|Are you adventurous when you eat|Do you go back to the same restaurants]?",
        "[I like to try new things.|I am a creature of habit.|A bit of both.|My friends decide.]",
    ),
    (
        "[Is there a smoking area you need|Do you mind people smoking outside|Does smoke bother you]?",
        "[Nobody smokes.|Yes, smoke bothers me.|We do not mind.|I gave it up.]",
    ),
    (
        "[Do you like our new website|Is the chat easy to use|Are you happy with this app]?",
        "[It works well enough.|The letters are too small.|I like it.|I preferred the old look.]",
    ),
)
"""Useless questions with their answers: on topic, but no help. No answer gives a detail of the booking away."""
