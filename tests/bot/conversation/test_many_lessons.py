"""Many answers taught one after the other: no lesson takes another one's place."""

from bot.adapters.llm.offline.model import OfflineModel
from memory.model import Role
from tests.doubles.conversation import TEA, Chat

TAUGHT = {
    "how do I activate my card?": "Open the app, choose the card and press Activate.",
    "how do I activate my virtual card?": "A virtual card is active from the start.",
    "what is a virtual card?": "A card number without plastic, for shops on the web.",
    "how do I freeze my card?": "Press Freeze beside the card in the app.",
    "how do I unfreeze my card?": "Press Unfreeze beside the card, then enter your code.",
    "how long does a new card take?": "Five working days by post.",
    "how long does a new pin take?": "The letter comes two days after the card.",
    "what is the limit of my card?": "Two thousand euros a month.",
    "what is the limit of my virtual card?": "Five hundred euros a week.",
    "what is the wifi password in Berlin?": "In Berlin it is spree-oak-77.",
    "what is the wifi password in Munich?": "In Munich it is isar-elm-12.",
    "what is the wifi password for guests?": "Guests get one at the front desk.",
    "who is on call on Monday?": "Rosa carries the pager then.",
    "who is on call on Tuesday?": "Ivan carries the pager then.",
    "who is on call at the weekend?": "The platform team takes turns, see the rota.",
    "where is room 101?": "First floor, left of the stairs.",
    "where is room 102?": "First floor, behind the kitchen.",
    "where is room 201?": "Second floor, across from the lift.",
    "when does the office open?": "At seven in the morning.",
    "when does the office close?": "At nine in the evening.",
    "when does the canteen open?": "At half past eleven.",
    "when does the canteen close?": "At two in the afternoon.",
    "how do I reset my password?": "Follow the link under the login form.",
    "how do I change my password?": "Settings, Security, New password.",
    "how do I reset my second factor?": "Call the help desk on extension 4100.",
    "how do I change my address?": "Write the new one into the staff portal.",
    "how do I change my bank account?": "Send the signed form to payroll.",
    "who approves travel expenses?": "Your team lead approves trips.",
    "when are travel expenses paid?": "With the salary of the next month.",
    "where do I send travel expenses?": "Upload the receipts to the finance portal.",
    "who approves vacation?": "Whoever leads your project.",
    "how many vacation days do I have?": "Thirty, and one more after five years.",
    "how many sick days do I have?": "As many as the doctor says.",
    "how many days may I work from abroad?": "Twenty days a year inside the union.",
    "what is the port of the staging database?": "It listens on 5433.",
    "what is the port of the production database?": "It listens on 6432.",
    "what is the host of the staging database?": "db.staging.internal",
    "who may read the production database?": "Only people on the data rota.",
    "how do I deploy to staging?": "Merge to the branch called next.",
    "how do I deploy to production?": "Tag the commit and wait for two approvals.",
    "how do I roll back production?": "Press Redeploy on the last green build.",
    "when is the deploy freeze?": "From the twentieth of December on.",
    "what is the rate limit of api v2?": "Ninety calls a minute.",
    "what is the rate limit of api v3?": "Six hundred calls a minute.",
    "where are the docs of api v2?": "On the old portal, under Archive.",
    "where are the docs of api v3?": "At developers.example.com",
    "how do I order a laptop?": "Pick a model in the hardware shop.",
    "how do I return a laptop?": "Bring it to the cellar with its charger.",
    "how do I order a monitor?": "Ask your team assistant for one.",
    "who repairs the coffee machine?": "Luigi, extension 220.",
    "who refills the coffee machine?": "Whoever empties it.",
    "who repairs the printer?": "The vendor; scan the code on its lid.",
    "where is the printer paper?": "In the grey cupboard by the window.",
    "what is the code of the bike cellar?": "Your badge opens it, there is none.",
    "what is the code of the parking garage?": "4711 and the hash key.",
    "how do I invite a guest?": "Register the name at the front desk the day before.",
    "how do I invite a customer?": "Ask sales to send the calendar entry.",
    "what do I do before a release?": "Write the notes and tell support.",
    "what do I do after a release?": "Watch the error board for an hour.",
    "may I record a meeting?": "Only when everybody in it has agreed.",
}


async def test_sixty_answers_that_were_taught_are_all_right_word_for_word() -> None:
    chat = Chat()
    chat = Chat(chat.world, OfflineModel(chat.world.memory.embedder.embed))
    for question, right in TAUGHT.items():
        message_id = await chat.ask(question, TEA)
        if chat.messenger.answers[-1] != right:
            await chat.correct(right, TEA, message_id=message_id, role=Role.TEACHER)
    told = {}
    for question in TAUGHT:
        await chat.ask(question, TEA)
        told[question] = chat.messenger.answers[-1]
    assert len(TAUGHT) == 60
    assert {question: said for question, said in told.items() if said != TAUGHT[question]} == {}
