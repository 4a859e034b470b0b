"""Closed classes of English words, as lower-case sets; clitics keep their apostrophe."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """The words of a text as a set: how closed classes are written down here."""
    return frozenset(words.split())


NOMINATIVE = word_set("i we he she they")
SUBJECT_PRONOUNS = NOMINATIVE | word_set(
    "you u ya y'all it this that these those someone somebody everyone everybody nobody everything"
    " something nothing anyone who"
)
FIRST_PERSON = word_set("i me my mine myself we us our ours ourselves im ive")
FIRST_POSSESSIVE = word_set("my our me mine")
THIRD_SINGULAR = word_set("he she")
DETERMINERS = word_set(
    "the a an my our your his her its their this that these those some every each both all one two"
    " three four five six seven eight nine ten no another most half any either neither which ur"
)
MODALS = word_set("might may could can would will shall should must ought 'll 'd ca wo gonna wanna")
BE = word_set("am is are was were be been being 'm 're ain")
HAVE = word_set("have has had having 've")
DO = word_set("do does did")
AUXILIARIES = MODALS | BE | HAVE | DO | word_set("'s")
QUESTION_WORDS = word_set("what what's where when how why who whos which whose")
PREPOSITIONS = word_set(
    "of in on at to for from with by about into over under after before between through during"
    " without within near against towards toward around across behind beside via than as per off"
    " onto upon along past until till since like"
)
COORDINATORS = word_set("and but so or yet plus nor & then though although whereas while")
ADVERBS = word_set(
    "just also still already now then never always really actually only even ever often usually"
    " sometimes probably maybe perhaps definitely certainly finally eventually currently mostly"
    " basically literally honestly apparently obviously clearly simply kinda sorta almost nearly"
    " not n't both all soon recently lately again today tonight tomorrow yesterday so too very"
    " quite rather well officially fully totally absolutely seriously genuinely barely hardly"
    " either kind sort pretty"
)
DISCOURSE = word_set(
    "and but so plus yet also anyway anyways well ok okay oh ah yeah yep yes no nah nope hey hi"
    " right now then though although whereas however still honestly actually basically apparently"
    " luckily sadly fortunately unfortunately btw tbh fwiw ngl lol haha hmm hm um uh er look listen"
    " see like cause cos & today tonight tomorrow yesterday meanwhile instead even besides"
    " otherwise update news ps maybe perhaps probably hopefully surely obviously sorry thanks great"
    " cool nice wow ugh omg finally recently lately currently also too mind"
)
CONDITIONAL = word_set("if unless assuming suppose supposing provided providing imagine whether")
SUBORDINATORS = CONDITIONAL | word_set(
    "when whenever once until till before after as since because although though while whilst"
    " given lest wherever whereas"
)
TIME_NOUNS = word_set(
    "day days week weeks month months year years morning evening afternoon night weekend summer"
    " winter spring autumn monday tuesday wednesday thursday friday saturday sunday"
)
KIN = word_set(
    "mum mom mam mama mummy mommy dad daddy papa father mother parent parents sister brother sis"
    " bro sibling siblings son sons daughter daughters kid kids child children baby toddler"
    " husband wife hubby partner girlfriend boyfriend fiance fiancé fiancee fiancée ex spouse nan"
    " nana gran granny grandma grandad granddad grandpa grandfather grandmother grandparents"
    " grandson granddaughter grandkids opa oma nonna aunt auntie aunty uncle cousin cousins niece"
    " nephew twin twins stepmum stepmom stepdad stepson stepdaughter stepsister stepbrother"
    " mother-in-law father-in-law sister-in-law brother-in-law son-in-law daughter-in-law in-laws"
    " missus family folks godmother godfather godson goddaughter"
)
BARE_KIN = word_set(
    "mum mom mam mama mummy dad daddy papa nan nana gran granny grandma grandad granddad grandpa"
    " opa oma nonna hubby auntie"
)
"""Kin words that name the speaker's own relative without a possessive."""
ACQUAINTANCES = word_set(
    "friend friends mate mates buddy pal bestie roommate flatmate housemate neighbour neighbours"
    " neighbor neighbors colleague colleagues coworker coworkers co-worker co-workers workmate"
    " boss manager supervisor teammate classmate tenant lodger student pupil client customer"
    " guest guests crush assistant intern companion teammates pt supervisor mentor pastor priest"
)
SERVICE_ROLES = word_set(
    "landlord landlady teacher tutor coach trainer therapist doctor gp dentist vet nurse surgeon"
    " accountant lawyer solicitor broker agent plumber electrician builder mechanic barber"
    " hairdresser stylist cleaner nanny babysitter childminder walker sitter optician physio"
    " physiotherapist chiropractor osteopath psychiatrist counsellor counselor"
)
"""People whose identity is part of the user's own profile ("my dentist is Dr Lee")."""
STRANGERS = word_set(
    "guy man woman lady girl boy bloke fella lad lass dude chap stranger person men women people"
)
PERSONS = KIN | ACQUAINTANCES | SERVICE_ROLES | STRANGERS
PETS = word_set(
    "dog dogs puppy pup cat cats kitten kitty rabbit rabbits bunny hamster gerbil parrot budgie"
    " cockatiel fish goldfish tortoise turtle horse pony hens hen chickens chicken ducks snake"
    " lizard gecko ferret ferrets guinea-pig pet pets spaniel labrador lab terrier collie kelpie"
    " whippet greyhound beagle poodle lurcher bird"
)
ATTITUDES = word_set(
    "say tell think reckon hope wish dream imagine pretend claim hear promise joke guess bet wonder"
    " ask suggest believe assume suppose fear doubt expect swear feel want"
)
"""Verbs whose complement is not asserted by itself."""
STATIVE = word_set(
    "live work use own have like love hate prefer want need know believe think drink eat drive"
    " ride coach teach study speak play run manage lead wear keep stay commute cycle belong attend"
    " follow support subscribe bank shop sleep rent be volunteer sing smoke vape watch read train"
    " practise practice take walk weigh cost measure enjoy dislike"
)
"""Verbs whose simple present says a standing state or habit."""
EVERYDAY_VERBS = STATIVE | word_set(
    "go come get make do see say tell call start stop move look smell feel seem want help send"
    " give show ask try leave pay hate keep let put meet sit stand hold turn bring happen write"
    " lose open close win cook buy sell find reckon host pick drop wait"
)
"""Verbs common enough that their -s form after a noun is a verb rather than a plural."""
NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "hundred": 100,
}  # fmt: skip
STOPWORDS = (
    DETERMINERS | AUXILIARIES | PREPOSITIONS | COORDINATORS | SUBJECT_PRONOUNS | FIRST_PERSON
    | QUESTION_WORDS | ADVERBS
    | word_set("him them her hers his its it's there here very much more")
)  # fmt: skip
"""Words that carry no content of their own when two texts are compared."""
