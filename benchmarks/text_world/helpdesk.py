"""A helpdesk: from the symptom that people tell to the fix, which speaks of something else."""

from __future__ import annotations

import numpy as np

from text_world.halves import draw_some, half_of
from text_world.openings import OPENINGS
from text_world.visits import Pairs

FAULTS = """The screen stays black.|Nothing happens at all, no light, no sound.|Check that the cable is plugged in.
Everything I type appears in capitals.|My letters are all shouting.|Press Caps Lock once.
Pages take forever to appear.|Videos stop to load every few seconds.|Restart the router.
It says I have no right to come in.|My secret word is refused.|Reset your password through the link in the mail.
Nothing comes out on paper.|My pages are stuck in the queue.|Clear the print queue and switch the printer on again.
The sheets have stripes and look pale.|Black has turned grey on paper.|Replace the toner cartridge.
I hear nobody in the meeting.|There is no sound from my machine.|Choose the right speaker in the audio settings.
Nobody hears me on the call.|They say I am silent.|Unmute the microphone.
Others see me as a dark square.|My face is missing in the video.|Slide open the shutter of the camera.
There is no room left for my files.|It says the disk is full.|Empty the recycle bin and delete old downloads.
It gets burning hot and loud.|The fan howls all day.|Blow the dust out of the vents.
The pointer jumps about.|The arrow does not follow my hand.|Clean the mouse sensor, or use a mat.
I erased a report by mistake.|My folder is gone since this morning.|Restore it from last night's backup.
Strange windows offer me prizes.|Advertising pops up everywhere.|Run the virus scanner and remove what it finds.
My phone dies before noon.|It does not last half a day any more.|Have the battery replaced.
It does not charge any more.|I plug it in and the percentage stays.|Try another charging cable.
The clock is wrong by an hour.|My meetings show up at the wrong time.|Set the time zone to your own.
The text is far too tiny to read.|I need glasses for these menus.|Raise the display scaling to 150 percent.
All menus are in Chinese.|I cannot read what the buttons say, it is foreign.|Change the language in the settings.
It starts by itself at night to install things.|It reboots in the middle of my work.|Set active hours for updates.
Messages to me bounce.|Senders get told that my box is full.|Archive old mails to free the mailbox.
I get hundreds of dubious offers by mail.|My inbox is flooded with rubbish.|Switch on the spam filter.
I cannot reach the office drive from home.|Internal pages do not open in the hotel.|Connect to the VPN first.
The device cannot find the wireless network.|My tablet sees no network at all.|Switch off airplane mode.
The earbuds do not connect.|My headset is not found.|Pair it again in the Bluetooth menu.
The beamer shows nothing of my laptop.|The wall stays blue in the meeting room.|Press the keys for a second display.
My table adds up wrong.|The total shows a row of hash signs.|Widen the column and check the formula.
It lost what I wrote when it crashed.|An hour of writing has vanished.|Open the autosaved version.
The touch screen does not react to me.|Swiping does nothing any more.|Remove the protective film and wipe the glass.
I am asked for six digits that I do not have.|The code never arrives.|Set up the authenticator app anew.
The document opens as gibberish.|I only see odd symbols in the file.|Open it with the program that made it.
I cannot change the document, it is locked.|It says somebody else is editing.|Have it closed, or work on a copy.
The badge does not open the gate.|The reader at the door blinks red.|Have your card activated again at reception.
My desk phone gives no tone.|The receiver is silent.|Put the network plug back into the phone.
The browser shows yesterday's page.|The site looks old though it was changed.|Clear the cache.
It warns that the site is not safe.|A red page about a certificate appears.|Correct the date of your computer.
The stick is not shown.|My USB drive does not appear.|Try another port, then assign a drive letter.
The photo is too large to send.|The attachment is refused for its size.|Share a link in place of the file.
The app closes right after I open it.|It vanishes as soon as I start it.|Reinstall the app.
It hangs and does not react to anything.|The program is frozen.|End the task and start it again.
Colours look greenish.|Everything has a yellow tint in the evening.|Turn off night mode.
The picture on the monitor is sideways.|My screen is turned by ninety degrees.|Rotate the display back.
My keys type the wrong signs.|Y and Z have changed places.|Choose the right keyboard layout.
The numbers on the right do not work.|The keypad moves the cursor instead.|Press Num Lock.
The scan is blurred.|Copies come out with spots.|Wipe the scanner glass.
I get no news about new messages.|My phone does not tell me when someone writes.|Allow notifications for the app.
The card with my number is not recognised.|It says there is no SIM.|Put the SIM card in again.
A licence has run out.|It says the trial is over.|Enter the new licence key.""".splitlines()
"""Each two symptoms and the fix."""


def draw_helpdesk(chance: np.random.Generator, judging: bool) -> Pairs:
    """Return symptoms and their fixes."""
    rows = [line.split("|") for line in draw_some(chance, half_of(FAULTS, judging), 20)]
    return Pairs(
        told=tuple((first, second) for first, second, _ in rows),
        answers=tuple(fix for _, _, fix in rows),
        openings=half_of(OPENINGS, judging),
    )
