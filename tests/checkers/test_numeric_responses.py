"""What `numeric` reads in the texts of many models: a wrong number is worse than none."""

from __future__ import annotations

import pytest
from at_k.checkers.numbers import read_response


@pytest.mark.parametrize(
    ("text", "number"),
    [
        # an explanation of a number, or what it is compared with
        ("The rope is 12 ft long (3.66 m).", "12"),
        ("The rope is 3 m long (about 10 feet).", "3"),
        ("41 out of the 60 seats are taken.", "41"),
        ("They need 8 more points to get 21.", "8"),
        ("It holds 7 liters, which is more than 5.", "7"),
        ("Lea has 31 stamps left after selling 9 of them.", "31"),
        ("There are 6 teams, each with 11 players.", "6"),
        ("He turns 44 in 2031.", "44"),
        ("It was 2031.", "2031"),
        ("So 18 guests, not counting the 2 children.", "18"),
        ("The answer is less than 5.", None),
        ("3 of her 8 cats are black.", "3"),
        ("14 people came, including 2 children.", "14"),
        ("Kim has 16 shells, 4 fewer than Lou.", "16"),
        ("k is 5 (since 3^2 = 9 > 5).", "5"),
        ("The answer is a = 3, b = 4.", None),
        # a clause that explains a number, or a number that is known from before
        ("She saved 6 coins, whereas 2 + 9 = 11 were spent.", "6"),
        ("They need 4 vans because 3 vans hold 27 people.", "4"),
        ("y = 5 is correct, because 5 + 5 = 10, so 10 is the sum.", "1E+1"),
        ("We got 40. Because 8 were lost, 32 remain.", "32"),
        ("He paid $9 instead of $12.", "9"),
        ("That makes 48 tiles for the 3 rooms.", "48"),
        ("The tip is 12, or 10% of all 120.", "12"),
        ("It grew to 77 cm after 6 weeks.", "77"),
        ("17 is the 5th number.", "17"),
        # two facts are no single number, unless a conclusion follows
        ("Ann has 31 cards and Bob has 28.", None),
        ("Ann has 31 cards and Bob has 28, so 59.", "59"),
        ("The chance is 5 in 9.", None),
        # two units, or two numbers, are no single number
        ("It took 1 day and 6 hours.", None),
        ("3 pounds, 4 ounces", None),
        ("The answer is 4 minutes 10 seconds.", None),
        ("用时 2小时30分钟", None),
        ("about 15 to 20 of them", None),
        ("5, 6, or 7", None),
        ("The numbers are 8 and 9.", None),
        ("$y = 1$ and $y = -1$", None),
        ("$a \\approx 2$ or $a \\approx 9$", None),
        ("on May 5, 1999", None),
        ("on the 5th of May 1999", None),
        # corrections
        ("The answer is 9. Hold on, I missed one, so it's 11.", "11"),
        ("\\boxed{7}\nActually, 2 * 4 = 8.", "8"),
        ("The answer is 9. Wait, is that right? Yes.", "9"),
        ("Wait, the side is 4. Hence \\boxed{44}", "44"),
        ("Hmm, 6 + 1 = 7.\nThe total: \\boxed{14}", "14"),
        # LaTeX around a number, and what makes it none
        ("\\boxed{~23~}", "23"),
        ("\\boxed{\\approx 4.7}", "4.7"),
        ("\\boxed{\\text{(C) } 62}", "62"),
        ("That is 0.3\\overline{1}", None),
        ("between \\$5 and \\$8", None),
        ("a = 2, b = 9", None),
        ("It is half past 9.", None),
        ("Answer: |\u22126| = 6", "6"),
        # what a response says beside its answer
        ("It's 61, I'm 100% certain.", "61"),
        ("That fills 7 shelves, with 3 books left over.", "7"),
        ("It takes 19 days.\n\nShall I explain the 4 steps?", "19"),
        # names of steps and items
        ("1. Multiply.\n2. It is 30.\n3. That is all.", "3E+1"),
        ("5 + 5 = 10, as shown in step 4.", "1E+1"),
        # a new prompt
        ("It is 3.\n\n# Problem 2\nAdd 5 and 6.\n11", "3"),
        ("## Question\nAdd 5 and 6.\n\n11", "11"),
        # scripts without spaces
        ("一共有25本书。", "25"),
        ("전부 12개입니다.", "12"),
        ("在第9题。", None),
    ],
)
def test_the_number_that_a_reader_takes(text, number):
    assert read_response(text) == number
