"""Content words in a lemma-like form: the keys of the index that finds what a turn could settle.

The same function reads held items when they are stored and turns when they arrive, so that
"bought the van" meets "might buy a van". It is an index, not a judgement: it may find too much,
and the resolution checker decides.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from threading import Lock

import snowballstemmer

from memgate_core.model import StagedItem

MAX_TERMS = 256
"""Terms kept of one text. Of a longer one the longest words stay: they are the rarer ones."""

MAX_TERM_LENGTH = 48

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NO_SPACES = re.compile(r"[぀-ヿ㐀-鿿가-힯฀-๿]+")
"""Scripts written without spaces, read as pairs of characters."""

_FUNCTION_WORDS = """
a an the this that these those some any each every no nor not none so such
i me my mine myself you your yours yourself he him his himself she her hers herself it its
itself we us our ours ourselves they them their theirs themselves one ones who whom whose
which what when where why how there here
and or but if then than because as while of at by for with about against between into through
during before after above below to from up down in out on off over under again further
am is are was were be been being do does did doing done have has had having will would shall
should can could may might must ought let lets get gets got getting go goes went going gone
come came coming make made making say said says saying think thinks thought thinking know
knows knew want wants wanted wanting
just only very too also even still yet already now ever never always maybe perhaps probably
really quite well ok okay yes yeah yep nope sure oh ah hey hi hello thanks thank please
s t d m ll re ve don didn doesn isn aren wasn weren won wouldn couldn shouldn can cannot
gonna wanna gotta im ive id ill youre thats dont didnt isnt wont cant user
"""
_STOP = frozenset(_FUNCTION_WORDS.split())

_IRREGULAR = {
    form: lemma
    for lemma, forms in {
        "arise": "arose arisen",
        "bear": "bore borne",
        "beat": "beaten",
        "become": "became",
        "begin": "began begun",
        "bend": "bent",
        "bind": "bound",
        "bite": "bit bitten",
        "blow": "blew blown",
        "break": "broke broken",
        "breed": "bred",
        "bring": "brought",
        "build": "built",
        "burn": "burnt",
        "buy": "bought",
        "catch": "caught",
        "child": "children",
        "choose": "chose chosen",
        "deal": "dealt",
        "dig": "dug",
        "draw": "drew drawn",
        "dream": "dreamt",
        "drink": "drank drunk",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "feed": "fed",
        "feel": "felt",
        "fight": "fought",
        "find": "found",
        "fly": "flew flown",
        "foot": "feet",
        "forget": "forgot forgotten",
        "forgive": "forgave forgiven",
        "freeze": "froze frozen",
        "give": "gave given",
        "grow": "grew grown",
        "hang": "hung",
        "hear": "heard",
        "hide": "hid hidden",
        "hold": "held",
        "keep": "kept",
        "kneel": "knelt",
        "knit": "knitted",
        "lay": "laid",
        "lead": "led",
        "leave": "left",
        "lend": "lent",
        "light": "lit",
        "lose": "lost",
        "man": "men",
        "mean": "meant",
        "meet": "met",
        "mouse": "mice",
        "pay": "paid",
        "person": "people",
        "prove": "proven",
        "ride": "rode ridden",
        "ring": "rang rung",
        "rise": "rose risen",
        "run": "ran",
        "see": "saw seen",
        "seek": "sought",
        "sell": "sold",
        "send": "sent",
        "sew": "sewn",
        "shake": "shook shaken",
        "shine": "shone",
        "shoot": "shot",
        "show": "shown",
        "shrink": "shrank shrunk",
        "sing": "sang sung",
        "sink": "sank sunk",
        "sit": "sat",
        "sleep": "slept",
        "sow": "sown",
        "speak": "spoke spoken",
        "spend": "spent",
        "spin": "spun",
        "stand": "stood",
        "steal": "stole stolen",
        "stick": "stuck",
        "strike": "struck",
        "swear": "swore sworn",
        "sweep": "swept",
        "swim": "swam swum",
        "swing": "swung",
        "take": "took taken",
        "teach": "taught",
        "tear": "tore torn",
        "tell": "told",
        "throw": "threw thrown",
        "tooth": "teeth",
        "understand": "understood",
        "wake": "woke woken",
        "wear": "wore worn",
        "weave": "wove woven",
        "weep": "wept",
        "wife": "wives",
        "win": "won",
        "wind": "wound",
        "woman": "women",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}
"""What a stemmer cannot undo: strong verbs and plurals."""

_stemmer = snowballstemmer.stemmer("english")
_stemming = Lock()  # the stemmer keeps the word it works on


def terms_of(text: str) -> frozenset[str]:
    """The content words of a text, lowercased, stemmed, without function words.

    At most `MAX_TERMS`, the longest first where a text has more.
    """
    folded = unicodedata.normalize("NFKC", text).lower()
    found = {term for word in _WORD.findall(folded) for term in _terms_of_word(word)}
    if len(found) <= MAX_TERMS:
        return frozenset(found)
    return frozenset(sorted(found, key=lambda term: (-len(term), term))[:MAX_TERMS])


def item_terms(item: StagedItem) -> frozenset[str]:
    """What a held item is found by: its value, attribute, realised text and the user's words."""
    attribute = (item.attribute or "").replace("_", " ")
    return terms_of(" ".join((item.value or "", attribute, item.text, item.words)))


def _terms_of_word(word: str) -> tuple[str, ...]:
    if _NO_SPACES.search(word):
        return tuple(_pairs(word))
    bare = word.replace("’", "'").split("'", maxsplit=1)[0]
    if bare in _STOP or word in _STOP or (len(bare) < 2 and not bare.isdigit()):
        return ()
    return (_stem(bare[:MAX_TERM_LENGTH]),)


def _pairs(word: str) -> list[str]:
    return [word[i : i + 2] for i in range(max(1, len(word) - 1))]


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    with _stemming:
        return str(_stemmer.stemWord(_IRREGULAR.get(word, word)))
