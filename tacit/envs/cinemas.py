"""How people talk about movie tickets: our wordings, put together by `phrasing.py`.

In templates, `{}` is the detail in words: the date with its preposition ("on Friday", "tonight"), the tickets with
their noun ("two tickets"). Bookings may also use `{day}`, which is bare.
"""

from __future__ import annotations

from tacit.envs.grammar import Grammar

NOUNS = {
    "movie": Grammar(
        "the [movie|film]", "the title", "the name of the [movie|film]", "the picture you fancy"
    ),
    "theatre": Grammar("the [theater|cinema]", "the movie house", "the place", "the venue"),
    "date": Grammar("the [day|date]", "your day", "the day of the show", "the day you can go"),
    "time": Grammar("the [time|showtime]", "the hour", "the time of the show", "the starting time"),
    "tickets": Grammar(
        "the number of [tickets|seats]",
        "the ticket count",
        "the size of your group",
        "the quantity of tickets",
    ),
}
"""What the informative question asks for, as nouns."""

WHICH = {
    "movie": Grammar(
        "[which|what] [movie|film]",
        "what you want to see",
        "what [movie|film] you have in mind",
        "which picture you want to watch",
    ),
    "theatre": Grammar(
        "[which|what] [theater|cinema]", "at which theater", "which movie house", "what venue"
    ),
    "date": Grammar("[which|what] day", "on [which|what] day", "[which|what] date", "when you can go"),
    "time": Grammar("[what|which] time", "at what time", "which showtime", "what hour"),
    "tickets": Grammar(
        "how many [tickets|seats]", "for how many", "how many people", "how many of you are going"
    ),
}
"""The same as questions."""

PIECES = {
    "movie": Grammar(
        "to see {}",
        "the [movie|film] {}",
        "{} is the [movie|film]",
        "a showing of {}",
        "the [movie|film] is {}",
        "the title is {}",
        "we picked {}",
        "{} it is",
    ),
    "theatre": Grammar(
        "at {}",
        "the [theater|cinema] is {}",
        "over at {}",
        "{} is the [theater|cinema]",
        "playing at {}",
        "we go to {}",
        "{} as the place",
        "the venue is {}",
    ),
    "date": Grammar(
        "{}",
        "for a show {}",
        "going {}",
        "we go {}",
        "we are free {}",
        "a showing {}",
        "it is {}",
        "we have time {}",
    ),
    "time": Grammar(
        "at {}",
        "the {} [show|showing]",
        "starting at {}",
        "{} is the time",
        "the time is {}",
        "around {}",
        "the screening at {}",
        "{} would suit us",
    ),
    "tickets": Grammar(
        "{}",
        "{} in all",
        "{} altogether",
        "I need {}",
        "we need {}",
        "{} for our group",
        "it makes {}",
        "{} would do",
    ),
}
"""What the user answers, in pieces of a list."""

CLAUSES = {
    "movie": Grammar(
        "[I|We] [want|would like] to see {}.",
        "The [movie|film] is {}.",
        "{} is [what we picked|what we want to see].",
        "[We are|I am] [excited|curious] about {}.",
        "[I|We] have been waiting for {}.",
        "It is {} that we want to see.",
        "We settled on {}.",
        "Let it be {}.",
    ),
    "theatre": Grammar(
        "It should be at {}.",
        "[We|I] [like|prefer] {}.",
        "The theater is {}.",
        "Please get them for {}.",
        "We are going to {}.",
        "{} is our theater.",
        "We will meet at {}.",
        "Let us go to {}.",
    ),
    "date": Grammar(
        "[We|I] want to go {}.",
        "It is for a show {}.",
        "[We are|I am] free {}.",
        "We will go {}.",
        "It should be {}.",
        "We can make it {}.",
        "We plan to go {}.",
        "The outing is {}.",
    ),
    "time": Grammar(
        "The [show|showing] at {}, please.",
        "It should start at {}.",
        "{} [works|is good] for us.",
        "The time is {}.",
        "We will come at {}.",
        "Let us go at {}.",
        "We want the {} [show|showing].",
        "Is {} possible? That would suit us.",
    ),
    "tickets": Grammar(
        "[I|We] need {}.",
        "Please buy {}.",
        "[That makes|It will be] {}.",
        "{}, please.",
        "[I|We] would like {}.",
        "Get us {}.",
        "We want {}.",
        "Put me down for {}.",
    ),
}
"""What the user answers, in sentences."""

BOOKINGS = Grammar(
    "Booking {tickets} for {movie} at {theatre} {date} at {time}.",
    "[Your order|The order]: {tickets}, {movie}, {theatre}, {day} at {time}.",
    "I [have bought|am buying] {tickets} to see {movie} at {theatre}, {day}, {time}.",
    "[Confirmed|All confirmed]: {movie} {date}, {time}, at {theatre}, {tickets}.",
    "[Done|All set|Settled]: {movie} at {theatre}, {day} at {time}, {tickets}.",
    "{theatre} {date}: {movie} at {time}, {tickets} [for you|in your name].",
    "[Reserving|Holding] {tickets} {date} for the {time} [show|showing] of {movie} at {theatre}.",
    "Enjoy {movie} {date}! The show is at {time} at {theatre} and you have {tickets}.",
    "You are going to see {movie} at {theatre} {date}: {time}, {tickets}.",
    "[I booked|I am booking] the {time} showing of {movie} {date}: {tickets} at {theatre}.",
    "[Purchase|Booking] complete: {theatre}, {movie}, {day}, {time}, {tickets}.",
    "Your seats for {movie} are ready: {theatre}, {day} at {time}, {tickets} in total.",
    "[Here is|This is] your booking: {movie}, {day}, {time}, {theatre}, {tickets}.",
    "At {theatre} you will see {movie} {date} at {time} with {tickets}.",
    "[OK|Right], {tickets} at {theatre}, {day}, {time}, and the movie is {movie}.",
    "The box office of {theatre} keeps {tickets} for {movie}, {day}, {time}.",
)
"""How a booking reads; all candidates of a dialogue share one wording."""

TOPICS = (
    (
        "[Would you like popcorn|Do you want snacks|Shall I add popcorn]?",
        "[Popcorn sounds good.|No snacks for me.|Sweet popcorn is my favourite.|I will eat at home.]",
    ),
    (
        "[Will you need parking|Are you coming by car|Should I look for parking nearby]?",
        "[No, we will walk.|Yes, we will drive.|We take the train, so no.|Parking would be handy.]",
    ),
    (
        "[Have you read any reviews|Do reviews matter to you|Shall I read you a review]?",
        "[I never read them.|Only now and then.|Critics are always wrong.|I like to make up my own mind.]",
    ),
    (
        "[Do you like film music|Do you collect soundtracks|Are soundtracks important to you]?",
        "[Yes, very much.|Not really.|I hum along, sorry.|It should not be too loud.]",
    ),
    (
        "[Do you have a loyalty card|Are you a member of our film club|Do you collect points]?",
        "[No card, sorry.|Yes, somewhere in my bag.|I would rather not join.|I collect points, sure.]",
    ),
    (
        "[Do you like trailers|Should there be trailers before it|Do adverts before a film bother you]?",
        "[I love trailers.|I always skip them.|Adverts are too long.|I do not mind.]",
    ),
    (
        "[Who is your favourite actor|Do you have a favourite actress|Which actors do you admire]?",
        "[I like them all.|I can never remember names.|Anybody who can sing.|That changes every month.]",
    ),
    (
        "[Do you prefer soft seats|Should the seats recline|What seats do you find comfortable]?",
        "[Soft seats, for my back.|I can sit anywhere.|Reclining seats put me to sleep.|More room for my legs.]",
    ),
    (
        "[Do you stay for the credits|Do you watch the credits|Will you leave before the credits]?",
        "[I always stay.|We run for the exit.|If the music is good.|My friends make me stay.]",
    ),
    (
        "[Have you seen anything good lately|What did you see last|Did you enjoy your last visit]?",
        "[Nothing worth telling.|A documentary about whales.|I fell asleep last time.|It was a nice visit.]",
    ),
    (
        "[Would you like something to drink|Do you want a soda|Shall I order drinks]?",
        "[Water is fine.|A large soda, perhaps.|No drinks, thanks.|I will buy it there.]",
    ),
    (
        "[How did you hear about us|Who told you about our service|Where did you find us]?",
        "[A friend told me.|I saw an advert.|I found you on the internet.|My brother uses you a lot.]",
    ),
    (
        "[Do you want to get our newsletter|May we send you our news|Shall I sign you up for news]?",
        "[No, thank you.|Yes, why not.|I get enough mail already.|Please do.]",
    ),
    (
        "[Do you like subtitles|Do subtitles bother you|Would subtitles help you]?",
        "[Subtitles help me.|I cannot read that fast.|No, I listen.|I am used to them.]",
    ),
    (
        "[Is the sound ever too loud for you|Do you need ear plugs|Do you enjoy loud sound]?",
        "[It is often too loud.|The louder the better.|I bring ear plugs.|I never noticed.]",
    ),
    (
        "[Do you cry at the movies|Do sad endings bother you|Do you prefer happy endings]?",
        "[I cry every time.|Happy endings, always.|Sad is beautiful.|I never cry.]",
    ),
    (
        "[Do you follow film awards|Did you watch the award show|Do prizes impress you]?",
        "[Prizes mean nothing to me.|I watch every award show.|Only for the dresses.|No, I sleep then.]",
    ),
    (
        "[Is it cold in there for you|Will you bring a jacket|Does the air conditioning bother you]?",
        "[I always freeze.|I bring a jacket.|Cool air is fine.|It is never cold enough.]",
    ),
    (
        "[Do you talk during a film|Do talkers annoy you|Should people be silent]?",
        "[Silence, please.|I whisper a little.|Talkers drive me mad.|A bit of laughter is fine.]",
    ),
    (
        "[Do you like to sit near the aisle|Do you mind stairs|Is the last row too far for you]?",
        "[The aisle is practical.|Stairs are fine.|I see well from anywhere.|Not too close, I get dizzy.]",
    ),
    (
        "[Do you read the book before|Do you like films made from books|Are books better in your view]?",
        "[Books are better.|I never have the time.|I like both.|I prefer comics.]",
    ),
    (
        "[Are you going on a special occasion|Is it somebody's birthday|Are you celebrating something]?",
        "[No, just for fun.|Yes, a birthday.|We celebrate the end of exams.|No occasion at all.]",
    ),
    (
        "[Do you collect posters|Would you like a poster|Do you have posters on your wall]?",
        "[My walls are full.|A poster would be fun.|No, thanks.|My son collects them.]",
    ),
    (
        "[Do you watch films at home|Is a film at home as good for you|Do you prefer the sofa sometimes]?",
        "[The big screen is better.|Yes, on the sofa.|My television broke.|Both have their charm.]",
    ),
    (
        "[Do you need glasses to see well|Do you wear glasses|Can you see well from far away]?",
        "[I wear glasses.|My eyes are fine.|I forgot them last time.|I squint a bit.]",
    ),
    (
        "[Do you enjoy horror|Are you easily scared|Can you stand scary scenes]?",
        "[I hide behind my hands.|Nothing scares me.|I like a good fright.|Rather not.]",
    ),
    (
        "[Is the lobby nice enough|Do you like old movie palaces|What do you think of modern lobbies]?",
        "[Old ones have charm.|I walk right through.|Red velvet is lovely.|I only see the snack bar.]",
    ),
    (
        "[Do you like the smell of popcorn|Is nacho cheese too smelly|Should food be banned inside]?",
        "[I love that smell.|Nachos should be banned.|I do not care.|It makes me hungry.]",
    ),
    (
        "[Do you know who directed it|Do you follow any directors|Is the director important to you]?",
        "[No idea who did.|The director is everything.|I look at the cast.|I never checked.]",
    ),
    (
        "[How is the weather where you are|Is it raining at your place|Do you like this weather]?",
        "[It is raining.|Sunny and warm.|Grey, as usual.|I have not looked outside.]",
    ),
    (
        "[Will you turn off your phone|Do phones annoy you in the dark|Should phones be locked away]?",
        "[Mine is always off.|Phones annoy me a lot.|I will try.|I need it for my work.]",
    ),
    (
        "[Will you take a short survey later|May we ask for your opinion afterwards|Will you rate our service]?",
        "[If it is short.|No, I am busy.|Sure, I can do that.|Perhaps later.]",
    ),
    (
        "[Do you like cartoons|Are cartoons only for children|Did you like cartoons as a child]?",
        "[I still love them.|I have outgrown them.|My children do.|Only the funny kind.]",
    ),
    (
        "[Do you write about films|Do you keep a film diary|Do you rate what you see]?",
        "[I keep a diary.|No, I just watch.|I give stars online.|My memory is enough.]",
    ),
    (
        "[Would you like a gift card for later|Do you give gift cards|Shall I mention our gift cards]?",
        "[No gift cards, thanks.|Perhaps next year.|I have a drawer full.|Good idea for my mother.]",
    ),
    (
        "[Do you like our new website|Is the chat easy to use|Are you happy with this app]?",
        "[It works well enough.|The letters are too small.|I like it.|I preferred the old look.]",
    ),
)
"""Useless questions with their answers: on topic, but no help. No answer gives a detail of the booking away."""
