"""What opens a lock is refused however it is told; what only looks like it is not."""

from __future__ import annotations

import pytest

from memgate_core.screening.screener import Screener

SCREENER = Screener()

TOLD = [
    "the guest wifi at ours, key's heronPond31, does it want a capital",
    "lockbox on the shed 4402K for the sitter",
    "router login is osk / Marrow-71x and the page is blank",
    "the alarm word thistle88 goes to the keyholder",
    "dial 18-44-07-31 and pull, it sticks",
    "my NI is ZZ 98 76 54 B, which box does it go in",
    "passport 530911847, check me in",
    "it texted 771 204 and never share this code, so where do I type it",
    "in the env file BILLING_SECRET=plum-trousers-4 and still a 401",
    "wallet seed starts lemon anchor violet gravy, what comes next",
    "type 40962 on the keypad, then wait for the beep",
    "scan results are hidden behind badger-toast-12, would you look with me",
    "the tablet lock is now Pickle-Rocket, he'll never guess",
    "it's 12 left... no hang on, 12-38-07, then pull",
    "cash machine ate the card, 7731 if the bank asks",
]
HARMLESS = [
    "my iPhone12 passcode screen froze",
    "the dress code is 1920s, any ideas",
    "we moved the gate to 2019 oak posts",
    "bake it at 1060 in a food safe glaze",
    "code review took until 1430",
    "the wifi router is a TP-Link, the old one lasted from 2011",
    "I did 12000 steps past the front door",
    "I tap 1200 words a day into the screen, slowly",
    "the bakery is behind the church of Saint-Jean, ask for seeds",
    "the lock is state-of-the-art, the door is not",
    "press 3 on the keypad for the parking desk",
    "mixed seed is what the finches like",
]


@pytest.mark.parametrize("text", TOLD)
def test_what_opens_a_lock_is_refused(text: str) -> None:
    assert SCREENER.secret_in(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_numbers_near_locks_pass(text: str) -> None:
    assert not SCREENER.secret_in(text)
