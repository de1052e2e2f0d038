"""Compare how checkers read the answer of a response, on texts whose answer is known.

    python tests/benchmarks/extraction.py [--wrong] [--held-out] [--further] [--choices] [--samples]
        [--tests SDIST ..]

`CASES` are responses of the kinds that the tests of lm-evaluation-harness and lighteval cover, and
of those that readers of logs meet, written and judged for this study. They were written after the
rules of `numeric`, by their author, and two of its 10 wrong verdicts led to
corrections, so its rates on other texts are higher. `--wrong` shows what each gets wrong. The peers
run where they are installed: the filter `flexible-extract` of the task gsm8k of
lm-evaluation-harness with its `exact_match`, the extractor of lighteval for LaTeX and expressions,
and math-verify.

With `--held-out`, the texts are `HELD_OUT`; with `--further`, `FURTHER`; with `--choices`,
`CHOICES` or `FURTHER_CHOICES`, which are read by `choice` and by the filter `multi_choice_regex` of
lm-evaluation-harness.

With `--samples`, the texts are the responses of a small model that ship with the package. Those on
which two of the four checkers disagree were read, and `numeric` was wrong on those in `MISREAD`.
Errors that all checkers share are not seen.

With `--tests`, the texts are those in the tests of other projects, which their authors have judged:
the lists of (gold, pred, expected) for `pytest.mark.parametrize` in sdists, such as that of
math-verify (`pip download --no-deps --no-binary :all: math-verify`), or in folders. They are read,
and not run. `numeric` refuses references that are not one number, so the rates of all checkers are
those of the texts whose reference it takes; a second line has those of the other texts. A checker
that a project ships passes the project's own tests, so these texts favor it.
"""

# ruff: noqa: E501, RUF001
from __future__ import annotations

import argparse
import ast
import json
import logging
import tarfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import at_k

Case = tuple[str, str, bool]
"""A reference, a response, and whether it is correct, as a reader takes it."""

CASES: list[Case] = [
    # --- the last number, and numbers after it
    ("72", "Natalia sold 48/2 = 24 clips in May. Altogether she sold 48 + 24 = 72 clips.", True),
    ("72", "48 + 24 = <<48+24=72>>72\n#### 72", True),
    ("72", "#### 72\n\nQuestion: Weng earns $12 an hour.", True),
    ("24", "48 + 24 = <<48+24=72>>72\n#### 72", False),
    ("10", "She earns 12/60 = $0.2 per minute, so she earned 0.2 x 50 = $10.", True),
    ("50", "She earns 12/60 = $0.2 per minute, so she earned 0.2 x 50 = $10.", False),
    ("5", "Betty needs 5 more dollars to buy a wallet that costs $100.", False),
    ("5", "The answer is 5, because a wallet costs $100.", True),
    ("100", "The answer is 5, because a wallet costs $100.", False),
    ("624", "Therefore, James writes **624** pages a year.", True),
    ("624", "Therefore, James writes 624 pages a year (12 x 52).", True),
    ("52", "Therefore, James writes 624 pages a year (12 x 52).", False),
    ("35", "Final answer: 35 purple flowers and 45 other flowers.", True),
    ("45", "Final answer: 35 purple flowers and 45 other flowers.", False),
    ("0", "So the answer is 0", True),
    ("18", "Janet makes 9 * 2 = $18 every day at the farmer's market.", True),
    ("18", "18", True),
    ("18", "Eighteen", True),
    ("18", "I cannot answer that.", False),
    ("18", "", False),
    ("8", "The answer is 18", False),
    ("1", "The answer is 18", False),
    ("12", "The answer is not 13 but 12.", True),
    ("13", "The answer is not 13 but 12.", False),
    ("12", "At first I thought the answer is 13. Correction: the answer is 12.", True),
    ("13", "At first I thought the answer is 13. Correction: the answer is 12.", False),
    ("7", "Step 1: 3 + 4\nStep 2: 3 + 4 = 7\nI used 2 steps", True),
    ("2", "Step 1: 3 + 4\nStep 2: 3 + 4 = 7\nI used 2 steps", False),
    ("3", "It is 3!", True),
    ("6", "It is 3!", False),
    # --- boxes and LaTeX
    ("12", r"so the result is $\boxed{12}$. We can check that 3 + 9 = 12.", True),
    ("9", r"so the result is $\boxed{12}$, and not 9", False),
    ("1/2", r"$\boxed{\frac{1}{2}}$", True),
    ("0.5", r"$\boxed{\frac{1}{2}}$", True),
    ("2", r"$\boxed{\frac{1}{2}}$", False),
    ("1/3", r"$\frac13 $", True),
    ("1/3", r"$\dfrac{1}{3}$ meters", True),
    ("-10/9", r"The slope is $-\frac{10}{9}$.", True),
    ("9", r"The slope is $-\frac{10}{9}$.", False),
    ("1/3", r"$k = \frac{2}{6}$", True),
    ("0.33", r"$\frac{1}{3}$", False),
    ("9", r"Answer \[ 9 \]", True),
    ("9", r"Answer $$ 9 $$", True),
    ("3", r"The length is $2\sqrt{3}$.", False),
    ("2", r"The area is $2\pi$.", False),
    ("2", r"The answer is $x^2$.", False),
    ("4", r"The point is $(3, 4)$.", False),
    ("1", r"The interval is $[0, 1]$.", False),
    ("30000", r"$3 \times 10^4$", True),
    ("4", r"$3 \times 10^4$", False),
    ("12345", r"$12{,}345$", True),
    ("12345", r"12\,345", True),
    ("90", r"The angle is $90^\circ$.", True),
    ("5", r"\boxed{5 \text{ cm}}", True),
    ("5", r"\boxed{x = 5}", True),
    ("7", r"\boxed{5} or perhaps \boxed{7}", True),
    ("25", r"The discount is $25\%$.", True),
    # --- thousands and decimals
    ("7425000", "7,425,000", True),
    ("1000", "1 000", True),
    ("1000", "1000.0", True),
    ("1000.99", "$1,000.99", True),
    ("1000.99", "1,000.99€", True),
    ("1000.99", "the number is not 10, it is 1,000.99m²", True),
    ("2.74", "2,74 $", True),
    ("0.4", ".4", True),
    ("70000", "He made a profit of $70,000.", True),
    ("70", "He made a profit of $70,000.", False),
    ("5000000", "about 5 million people", True),
    ("5", "about 5 million people", False),
    ("123456", "1,23,456 rupees", True),
    ("3.5", "3.50 dollars", True),
    ("50", "3.50", False),
    ("1234.5", "1.234,5 Euro", True),
    # --- signs
    ("-5", "-5", True),
    ("-5", "\u22125 degrees", True),
    ("-5", "x = -5", True),
    ("-5", "It is negative 5.", True),
    ("5", "x = -5", False),
    ("-5", "a loss of -$5", True),
    ("5", "12 - 7 = 5", True),
    ("-7", "What is 12-7? It is 12-7", False),
    ("5", "I would compute 10 - 5", False),
    # --- fractions and percentages
    ("0.75", "3/4 of the pizza", True),
    ("4", "3/4 of the pizza", False),
    ("3/4", "75%", True),
    ("75%", "0.75", True),
    ("75", "75%", True),
    ("75", "0.75", False),
    ("1.5", "1 1/2 hours", True),
    ("2", "1 1/2 hours", False),
    ("1.5", "1½ cups", True),
    ("0.5", "0.5%", False),
    ("13/28", "The ratio is 13/28.", True),
    # --- parts of something else
    ("2", "AZYUK2A", False),
    ("2", "The molecule is H2O.", False),
    ("2", "An area of 12 cm^2", False),
    ("12", "An area of 12 cm^2", True),
    ("12", "An area of 12 m²", True),
    ("30", "It is 3:30 pm", False),
    ("15", "on 2026-01-15", False),
    ("5", "x > 5", False),
    ("13", "It is 12 or 13", False),
    ("3", "x = 2 or x = 3", False),
    ("3", "x_1 = 3 and so is x_2", True),
    ("60", "She drove 60 km/h", True),
    ("19", "Because of COVID-19", False),
    ("2", "version 3.1.2", False),
    ("60", "60 = 12 x 5", True),
    ("5", "60 = 12 x 5", False),
    ("5", "The answer is 5kg", True),
    ("5", "2x + 5", False),
    ("8", "log_2 8 = 3", False),
    ("3", "log_2 8 = 3", True),
    # --- other marks
    ("5", "<answer>5</answer> since 7 - 2 = 5", True),
    ("5", "Answer: 5\nExplanation: there are 7 days in 1 week", True),
    ("1", "Answer: 5\nExplanation: there are 7 days in 1 week", False),
    ("40", "ANSWER: 40 (of 100)", True),
    ("6", "The correct answer would be 6. Is there anything else in these 2 texts?", True),
    ("11", "Hence we get 11 as the total, after 3 steps.", True),
    ("3", "Hence we get 11 as the total, after 3 steps.", False),
    ("99", "11个男孩 * 9颗弹珠/男孩 = 99颗弹珠", True),
    ("220", "Réponse: Janeth aura encore 220 $ à payer d'ici 12 mois.", True),
    ("12", "Réponse: Janeth aura encore 220 $ à payer d'ici 12 mois.", False),
]

HELD_OUT: list[Case] = [
    # --- which of several answers counts
    ("31", r"My first try gave \boxed{29}, but I forgot two. Final answer: 31.", True),
    ("29", r"My first try gave \boxed{29}, but I forgot two. Final answer: 31.", False),
    ("16", r"The answer is 14. Let me redo this: \boxed{16}", True),
    ("9", "#### 7\nHold on. The correct answer is 9.", True),
    ("4", r"So we get \boxed{4}. The answer is therefore what we expected.", True),
    ("88", "<answer>80</answer>\nCorrection:\n<answer>88</answer>", True),
    ("250", "Answer: 200\n\nAfter checking the tax, Answer: 250", True),
    ("63", r"\boxed{63} is the final answer, see step 4 above.", True),
    # --- thinking
    ("5", "<think>Is it 4? Perhaps \\boxed{4}.</think>The result is 5.", True),
    ("4", "<think>Is it 4? Perhaps \\boxed{4}.</think>The result is 5.", False),
    ("22", "Let me see, 20 + 2 = 22, or 24.</think>\n\n22", True),
    ("24", "20 + 2 = 22, or 24.</think>\n\nIt is unclear.", False),
    ("6", "<thinking>2 * 3 = 6\nThe answer is 6", False),
    ("12", "<reasoning>\n3 * 4 = 13?\n</reasoning>\n<answer>\n12\n</answer>", True),
    ("7", "[THINK]maybe 9[/THINK]7", True),
    ("3", "<|channel|>analysis<|message|>It is 8<|end|><|channel|>final<|message|>It is 3", True),
    ("8", "<|channel|>analysis<|message|>It is 8", False),
    ("11", "<think></think>\n\nThe sum is 11.", True),
    # --- a continuation
    ("18", "She earns $18.\n\nQuestion: A car drives 60 miles in 2 hours. How fast?", True),
    ("60", "She earns $18.\n\nQuestion: A car drives 60 miles.\nAnswer: 60", False),
    ("45", "#### 45\n\nProblem: Find 3 + 9.\nSolution: 12", True),
    ("70", "The answer is 70.\n\nQ: There are 5 pens.\nA: 5 - 2 = 3. The answer is 3.", True),
    ("13", "13\n\nQuestion 2: What is 8 x 8?\n64", True),
    ("5", "Question: How many pens are left?\nAnswer: 8 - 3 = 5", True),
    ("90", "A: 9 * 10 = 90\n\nHuman: And 9 * 11?\nAssistant: 99", True),
    ("35", "35\n### Instruction:\nAdd 4 and 5.\n### Response:\n9", True),
    # --- layouts
    ("144", "**Answer**\n\n$$144$$\n\nThis uses 12 twice.", True),
    ("27", "The final answer is:\n\\[ 27 \\]\nas 3 cubed.", True),
    ("0.25", "Therefore the answer is\n$$\\frac{1}{4}$$", True),
    ("512", '{"reasoning": "2 ** 9", "answer": 512}', True),
    ("512", '{"answer": "512", "confidence": 0.9}', True),
    ("3", '{"answer": null, "steps": 3}', False),
    ("19", '```json\n{\n  "final_answer": "19",\n  "unit": "m2"\n}\n```', True),
    ("48", "| Item | Value |\n|---|---|\n| Shirts | 6 |\n| Answer | 48 |", True),
    ("48", "## Final Answer\n48\n\n(6 shirts at 8 dollars)", True),
    ("95", "__The answer is__ **95** points, up by 5.", True),
    ("1200", "**Answer: $1,200** for 12 months", True),
    ("33", "*Final Answer:* `33`", True),
    ("17", r"\boxed{8 + 9 = 17}", True),
    ("9", r"\boxed{8 + 9 = 17}", False),
    ("30", r"\boxed{n = 5 \times 6 = 30}", True),
    ("4", r"\boxed{2x = 4}", False),
    ("14", r"\boxed{\mathbf{14}}", True),
    ("21", r"\boxed{\text{21 apples}}", True),
    # --- languages
    ("36", "因此，最终答案是 **36**，共用了 3 步。", True),
    ("58", "答案：58 元（第 2 题）", True),
    ("3", "答案为 12，第 3 题。", False),
    ("15", "Die Antwort lautet 15, denn 3 mal 5 ist 15 und nicht 16.", True),
    ("81", "Antwort: 81 Euro (9 Tage zu 9 Euro)", True),
    ("64", "La respuesta es 64, porque 8 por 8 no es 60.", True),
    ("7", "Respuesta: 7 manzanas de las 10", True),
    ("26", "La réponse finale est 26 : deux de plus que 24.", True),
    ("40", "Réponse : 40 (voir page 2)", True),
    # --- no single number
    ("42", "It is between 40 and 42.", False),
    ("20", "The answer is between 10 and 20.", False),
    ("8", "Either 7 or 8.", False),
    ("30", "We should leave at 3:30 PM.", False),
    ("9", "The answer is somewhere from 5 to 9.", False),
    ("2", "There are two solutions, 2 and -2.", False),
    ("5", "I am not sure. It could be 4 or 5.", False),
    # --- as before
    ("72", "48 + 24 = 72, so she sold 72 clips.", True),
    ("3.5", "Hence x = 7/2.", True),
    ("1500", "The total cost comes to $1,500.00.", True),
    ("12.5", "The answer is 12.5%.", True),
    ("-8", "We find y = -8", True),
    ("2024", "In 2024 he will be 18.", False),
    ("18", "In 2024 he will be 18.", True),
    ("6", "Each of the 3 boxes holds 6 balls.", True),
    ("100", "So there are 100 marbles in total.", True),
    ("150", "The answer is 150 km/h.", True),
    ("5/6", r"\frac{1}{2} + \frac{1}{3} = \frac{5}{6}", True),
    ("10", "Total: 10", True),
    ("14", "Answer is 14!", True),
    ("0.1", "The probability is 1/10.", True),
    ("365", "a year has 365 days", True),
    ("23", "Final answer is 23. Thank you for asking 2 questions!", True),
    ("16", "The answer to the 2nd part is 16.", True),
    ("9", "So the answer isn't 8 but 9.", True),
    ("5", "Let x be the answer. Then 2x = 10, so x = 5.", True),
    ("11", "The answer: eleven (11)", True),
]
"""Responses that were judged before the rules for them were written: several answers, thinking, a
prompt that follows, layouts, other languages. Three were misread at first."""

FURTHER: list[Case] = [
    (
        "17",
        "<think>\nOkay, so 34 divided by 2... maybe it's 18? No, 17.\n</think>\n\nTo find half of 34, divide by 2.\n\n**Step 1:** 34 ÷ 2 = 17\n\n**Final Answer:** 17 marbles",
        True,
    ),
    (
        "204",
        "<think>\nThe user wants...\nSo \\boxed{205}? Let me verify. 4*51=204.\n</think>\nThe product is\n\n\\[\n4 \\times 51 = 204\n\\]\n\nThus the answer is \\(\\boxed{204}\\).",
        True,
    ),
    (
        "156",
        "<think>\nWe need to compute 12*13. 12*13=156. Let me double check: 12*10=120, 12*3=36. Total 156. So the answer is 156",
        False,
    ),
    (
        "73",
        "<|begin_of_thought|>\n70+3 is 74?\n<|end_of_thought|>\n\n<|begin_of_solution|>\nThe sum is \\boxed{73}.\n<|end_of_solution|>",
        True,
    ),
    ("6", "<reasoning>2+2=4, plus 2 is 6</reasoning>\n<answer>6</answer>", True),
    (
        "5",
        "<|channel|>analysis<|message|>So the total is 45. But wait, is tax included? 45*1.1=49.5",
        False,
    ),
    (
        "49.5",
        "<|channel|>analysis<|message|>So 45*1.1=49.5.<|end|><|start|>assistant<|channel|>final<|message|>The total with tax is **$49.50**.",
        True,
    ),
    ("8", "◁think▷3+4=7? no 3+5=8◁/think▷The answer is 8.", True),
    ("5/12", "The probability is therefore $\\dfrac{5}{12}$.", True),
    ("-3/4", "so the slope equals $m = -\\frac{3}{4}$.", True),
    ("1024", "We get $2^{10} = 1024$.", True),
    ("3.14", "The area is approximately $\\pi r^2 \\approx 3.14 \\text{ cm}^2$.", True),
    ("9", "The area is $9\\pi$ square units.", False),
    ("2", "Thus the hypotenuse is $5\\sqrt{2}$ cm.", False),
    ("13", "By Pythagoras, $\\sqrt{5^2 + 12^2} = \\sqrt{169} = 13$.", True),
    ("45", "\\begin{align*}x + 45 &= 90 \\\\ x &= 45\\end{align*}", True),
    ("150", "\\[\n\\text{Distance} = 60 \\times 2.5 = 150 \\text{ miles}\n\\]", True),
    ("120", "Hence there are $5! = 120$ ways.", True),
    ("28", "$\\binom{8}{2} = 28$", True),
    ("0.05", "The p-value is $5 \\times 10^{-2}$.", True),
    ("2/3", "\\[ \\boxed{\\dfrac{2}{3}} \\]", True),
    ("7", "$$\\boxed{\\text{Answer: } 7}$$", True),
    ("35", "The final answer is $\\boxed{35^\\circ}$.", True),
    ("12", "Therefore, $x = \\fbox{12}$.", True),
    ("2", "The solutions are $x = 3$ and $x = -2$.", False),
    ("5", "\\boxed{(2, 5)}", False),
    ("4", "\\boxed{[0, 4)}", False),
    ("4", "\\boxed{x \\geq 4}", False),
    ("2", "The answer is $\\boxed{3x + 2}$.", False),
    ("64", "\\boxed{64 \\text{ square units}}", True),
    ("10000", "Answer: $10{,}000$", True),
    ("3", "$\\log_{10} 1000 = 3$", True),
    (
        "912",
        "| Month | Sales |\n|-------|-------|\n| Jan | 400 |\n| Feb | 512 |\n| **Total** | **912** |",
        True,
    ),
    ("27", '{\n  "steps": ["3*9=27"],\n  "final": 27\n}', True),
    ("27", '{"result": {"answer": 27, "unit": "kg"}, "tokens": 512}', True),
    ("55", "```python\nprint(sum(range(11)))\n```\nOutput:\n```\n55\n```", True),
    ("34", "answer = 34", True),
    ("16", "solution(): 4 x 4\n>>> 16", True),
    ("2.5", "<answer>\n$2.50\n</answer>", True),
    ("61", "The answer is:\n\n61", True),
    ("18", "Answer (in dollars): 18", True),
    ("18", "**Answer:** \\$18", True),
    ("96", "Therefore: 96.", True),
    ("45", "It will take her 45 minutes.", True),
    ("45", "The train arrives at 4:45 PM.", False),
    ("2.5", "The trip takes 2.5 h (150 min).", True),
    ("72", "He is 72 inches tall (6 feet).", True),
    ("1500", "That makes $1.5k, i.e. $1500.", True),
    ("3000000", "The city has 3 million inhabitants.", True),
    ("75", "She scored 75 out of 100.", True),
    ("15", "15% of the students", True),
    ("20", "The price was reduced by 20 percent.", True),
    ("4.5", "It weighs 4.5kg.", True),
    ("98.6", "98.6°F", True),
    ("-12", "The temperature is −12 °C.", True),
    ("250", "Rs. 250", True),
    ("1250.75", "Total: USD 1,250.75", True),
    ("9", "She needs 9 more stickers to reach 50.", True),
    ("8", "5 feet 8 inches", False),
    ("30", "The answer is 2 hours and 30 minutes.", False),
    ("15", "The answer lies in the range 10-15.", False),
    ("25", "Somewhere around 20 to 25 people.", False),
    ("5", "It's impossible to determine from the given information.", False),
    ("4", "The ratio is 3:4.", False),
    ("1776", "The date is July 4, 1776.", False),
    ("14", "The answer could be 12, 13, or 14.", False),
    ("7", "x ≈ 3 or x ≈ 7", False),
    ("42", "The answer is 40. Wait, I forgot to add 2. So it's 42.", True),
    ("11", "I initially said 10, but the correct total is 11.", True),
    ("14", "#### 15\n\nActually, that's wrong: 7*2=14.\n\n#### 14", True),
    ("33", "Therefore 32... no, sorry, 33.", True),
    (
        "8",
        "The answer is 8.\n\nQ: If there are 5 birds and 2 fly away, how many remain?\nA: 5 - 2 = 3. The answer is 3.",
        True,
    ),
    (
        "8",
        "8\n\n\nQuestion: Tom has 4 apples and buys 5.\nLet's think step by step\n4 + 5 = 9\n#### 9",
        True,
    ),
    ("25", "#### 25\n\n### Question\nA farmer has 10 cows...\n### Answer\n10", True),
    (
        "25",
        "The total is 25.\n\nUser: Thanks! What about 30?\nAssistant: 30 is more than 25.",
        True,
    ),
    ("60", "60<|im_end|>\n<|im_start|>user\nHow about 61?", True),
    ("12", "Итак, ответ: 12 яблок.", True),
    ("56", "Portanto, a resposta é 56.", True),
    ("144", "したがって、答えは144です。", True),
    ("90", "따라서 정답은 90입니다.", True),
    ("3.5", "Also beträgt die Länge 3,5 cm.", True),
    ("7", "Le nombre total est donc de 7 pommes.", True),
    ("2500", "Por lo tanto, gastó 2.500,00 pesos.", True),
    ("18", "所以一共有18个苹果。", True),
    ("20", "इसलिए उत्तर 20 है।", True),
    ("100", "So Weng earned $10 + $90 = $100 in total, not counting the 2 days off.", True),
    ("4", "There are four (4) apples left.", True),
    ("21", "Sum = 6 + 7 + 8\n    = 21", True),
    ("0.5", "p=0.5", True),
    ("31", "(d) 31", True),
    ("5", "1. Add 2 and 3.\n2. The result is 5.\n3. Done.", True),
    ("26", "Hmm, 13 doubled gives 26 cookies altogether.", True),
    ("1.75", "You need 1 3/4 cups (420 ml) of flour.", True),
    ("640", "The rectangle covers 640 m² (about 0.16 acres).", True),
    ("12", "Out of the 30 pupils, 12 walk to school.", True),
    ("12", "12 out of 30 pupils walk to school.", True),
    ("45", "The film lasts 1 h 45 min.", False),
    ("6", "She is 5'6\" tall.", False),
    ("2019", "The meeting was on 12 March 2019.", False),
    ("7", "The roots are 4 and -7.", False),
    ("5", "n = 5 or n = -5", False),
    ("4", "$x=1$ or $x=4$", False),
    ("35", "We need at least 30 to 35 chairs.", False),
    ("5", "The probability is less than 0.5.", False),
    ("0.3", "The probability is 0.3, which is less than 0.5.", True),
    ("54", "The answer is 45. Actually, let me recompute: 6 * 9 = 54.", True),
    ("45", "The answer is 45. Wait, let me check step 2. Yes, that is fine.", True),
    ("88", "\\boxed{80}\n\nWait, I forgot the 8 extra: 80 + 8 = 88.", True),
    ("19", "The total is 19\n\n## Question 2\nWhat is 5 + 5?\n\n10", True),
    ("40", "1. 5 boxes with 8 pens.\n2. 5 × 8 = 40 pens.\n3. So that is it.", True),
    ("3", "1) First we add.\n2) Then we get 3.\n3) Finished!", True),
    ("24", "Step 1: 4 * 6 = 24\nThis completes step 2.", True),
    ("70", "He still needs 70 more dollars to buy the 150 dollar bike.", True),
    ("15", "所以小明有15元。", True),
    ("5", "小明在第5页。", False),
    ("250", "合計は250円です。", True),
    ("45", "총 45개의 사과가 있습니다.", True),
    ("6.5", "La réponse est 6,5 kg.", True),
    ("1000", "Das sind 1.000 €.", True),
    ("4200", "Total: ₹4,200", True),
    ("9", "There are nine (9) planets counting Pluto.", True),
    ("22", "So 22 students (not counting the 3 absent ones) were there.", True),
    ("17", "Thus, the largest prime factor is 17.", True),
    ("17", "f(3) = 17", True),
    ("8", "|−8| = 8", True),
    ("-2", "Therefore $y = -2$.", True),
    ("0.6", "\\(\\frac{3}{5} = 0.6\\)", True),
    ("5040", "7! = 5040", True),
    ("1/8", "The chance is \\(\\left(\\frac{1}{2}\\right)^3 = \\frac{1}{8}\\).", True),
    ("120", "<answer>120 km</answer>", True),
    ("16", '{"final_answer": 16}', True),
    ("16", '```json\n{"answer": "16 dollars"}\n```', True),
    ("36", "Answer: 6² = 36", True),
    ("5", "I can't solve this one.", False),
    ("5", "undefined", False),
    ("48", "She will be 48 in 2030.", True),
    ("7", "In total, there are 7.", True),
    ("2", "2.", True),
    ("2", "(2)", True),
    ("2", "=2", True),
    ("60", "It's 60%.", True),
    ("60", "The train's speed: 60 mph (≈ 96.6 km/h)", True),
    ("500", "500 g = 0.5 kg, so the answer in grams is 500.", True),
    ("14", "Emma has 14 candies left after giving 6 away.", True),
    ("11", "There are 11 players, each with 2 shoes.", True),
    ("130", "So, he paid $130 for 2 tickets.", True),
    ("33", "Thus Anna read 33 pages more than Ben, who read 12.", True),
    ("24", "Therefore the number of hours is 24, i.e. one day.", True),
    ("24", "so 24 hours, or 1 day", True),
    ("3", "The remainder when 15 is divided by 4 is 3.", True),
    ("4", "15 divided by 4", False),
    (
        "85",
        "To find the average, add all scores: 80 + 90 + 85 = 255. 255 / 3 = 85.\n\nThe average score is **85**.",
        True,
    ),
    ("6", "Mia can fill 6 bags completely, with 2 marbles left over.", True),
    ("1/6", "P(rolling a four) = 1/6", True),
    ("48", "**Step 3: Combine**\n\n$$24 + 24 = 48$$\n\n✅ **48 muffins**", True),
    ("13", "Solving 3x - 4 = 35 gives 3x = 39, hence x = 13.", True),
    ("900", "So the total area = 30 × 30 = 900 sq ft", True),
    ("11", "Alright! Counting by twos from 1, we land on 11 🎉", True),
    ("2.4", "v = d/t = 12 m / 5 s = 2.4 m/s", True),
    ("-7", "The temperature dropped to -7°C overnight.", True),
    ("365", "<think>a leap year? no.</think>\n<answer>\n365 days\n</answer>", True),
    ("19", "```\nresult = 19\n```", True),
    ("19", '```json\n{"steps": [4, 15], "answer": {"value": 19}}\n```', True),
    ("28", "Final Answer: The final answer is $28$. I hope it is correct.", True),
    ("3", "The smallest such n is n = 3 (since 2^3 = 8 > 7).", True),
    ("144", "Answer: 12² = 144 tiles", True),
    ("5000", "That is 5 kilometers or 5000 meters. In meters: 5000.", True),
    ("72", "She travels at 72 kilometers per hour.", True),
    ("17", "#### 17", True),
    ("17", "#### $17.00", True),
    ("17", "Answer\n------\n17", True),
    ("20", "The train leaves at 14:05 and arrives at 16:20.", False),
    ("8", "The coordinates are (−3, 8).", False),
    ("4", "Between 3 and 4 hours.", False),
    ("5", "The answer is x = 2, y = 5.", False),
    ("2", "He has 3 dimes and 2 nickels.", False),
    ("5", "Insufficient data.", False),
    ("50", "about 40-50 people", False),
    ("7", "$\\sqrt{7}$", False),
    ("9", "√81 = 9", True),
    ("20", "La réponse est donc 20 euros.", True),
    ("33", "Die Lösung ist x = 33.", True),
    ("33", "Die richtige Antwort lautet: 33 Äpfel.", True),
    ("8", "Por lo tanto, quedan 8 galletas.", True),
    ("64", "Ответ: 64 км", True),
    ("120", "因此，他一共需要 120 分钟。", True),
    ("120", "所以答案是：120分钟。", True),
    ("56", "The answer is 54. Hmm, 7*8 is 56, so the answer is 56.", True),
    ("10", "The answer is 10.\n\nProblem: Next, find 5 + 7.\nAnswer: 12", True),
    ("250", "It costs $250 (that's 25% of $1,000).", True),
    ("4", "Only 4 of the 10 candies are red.", True),
    ("15", "There were 15 people at the party, including 3 children.", True),
    ("30", "Each of the 5 friends gets 30 stickers.", True),
    ("2.5", "two and a half, i.e. 2.5", True),
    ("0", "None remain: 0.", True),
    ("1e6", "That's 10^6 bacteria.", True),
    ("12", "Dividing 144 by 12 gives 12.", True),
    ("60", "He saved 60% of his income.", True),
    ("42", "42, since 6 times 7 is 42", True),
    ("77", "Therefore, Sam's total comes to $77, which he splits with 3 friends.", True),
    ("18", "He is 18 years old, 5 years older than Tim.", True),
]
"""Responses in the styles of many models, judged before any of the rules that they led to. At the
first run 16 of the first 91 were misread, 8 of the next 60 after corrections, and 8 of the last 50
after further ones: 15, 7 and 7 as another number."""

CHOICES: list[Case] = [
    ("C", "(C)", True),
    ("C", "C", True),
    ("C", "**C**", True),
    ("C", "C.", True),
    ("C", "C) The mitochondrion", True),
    ("C", "c", False),
    ("B", "Answer: B", True),
    ("B", "The correct answer is **(B)**.", True),
    ("B", "the answer is (b)", True),
    ("E", "So the final answer is E because the others are too small.", True),
    ("A", "The answer is a matter of taste.", False),
    ("A", "The answer is A because it is the largest.", True),
    ("A", "A large part of the energy is lost, so the answer is D.", False),
    ("D", "A large part of the energy is lost, so the answer is D.", True),
    ("D", r"Therefore, the answer is $\boxed{D}$.", True),
    ("D", r"\boxed{\textbf{(D)}}", True),
    ("D", r"\boxed{\mathrm{D}}", True),
    ("B", r"\boxed{A} would be too much, so \boxed{B}", True),
    ("A", r"\boxed{A} would be too much, so \boxed{B}", False),
    ("F", "Option F fits best.", True),
    ("C", "Option A is wrong. Option B is wrong. Option C is right.", True),
    ("C", "Option C is right, and option B is wrong.", True),
    ("B", "Option C is right, and option B is wrong.", False),
    ("B", "I would choose option B.", True),
    ("B", "I pick (B), since (A) and (C) break the law.", True),
    ("G", "Let's go with G", True),
    ("A", "It is either A or C.", False),
    ("C", "It is either A or C.", False),
    ("A", "The answer is A or B.", False),
    ("B", "The answer could be (A) and (B).", False),
    ("A", "Answer: A, B", False),
    ("C", "<think>The answer is B?</think>\nThe answer is C.", True),
    ("B", "<think>The answer is B", False),
    ("D", "Looking at each:\n(A) no\n(B) no\n(C) no\n(D) yes\n\nAnswer: D", True),
    ("D", "Explanation of all four.\n\nD", True),
    ("D", "Explanation of all four.\n\n**D**", True),
    ("H", '{"answer": "H", "confidence": 3}', True),
    ("H", "<answer>H</answer>", True),
    ("H", "<answer>\n(H)\n</answer>", True),
    ("B", "答案是 B。", True),
    ("B", "Die Antwort ist B.", True),
    ("A", "Answer: A\n\nQuestion: What is next?\nAnswer: C", True),
    ("C", "Answer: A\n\nQuestion: What is next?\nAnswer: C", False),
    ("B", "The answer is not A but B.", True),
    ("A", "I do not know.", False),
    ("I", "I think so.", False),
    ("D", "#### D", True),
    ("C", "The best choice is C: it costs least.", True),
    ("J", "My answer to the question about dogs is J.", True),
    ("E", "Correct answer: [E]", True),
    ("B", "### Final Answer\nB", True),
    ("yes", "Yes, because it holds.", True),
    ("no", "Yes, because it holds.", False),
    ("no", "It is not so. The answer is no.", True),
    ("yes", "No.", False),
    ("true", "The claim is true.", True),
]
"""Responses to questions with options, of which most have no text here, written and judged before
`choice` was run on them. Two of its first verdicts were wrong and led to corrections."""


FURTHER_CHOICES: list[Case] = [
    ("B", "**Answer: (B) The mitochondria**", True),
    ("C", "The correct option is **C) 12 m/s**.", True),
    ("A", "After weighing the evidence, I'd say (A).", True),
    (
        "D",
        "Let's evaluate each option.\n\nA) Incorrect, since...\nB) Incorrect, as...\nC) Partially right.\nD) Correct: it satisfies all conditions.\n\nTherefore, the best answer is D.",
        True,
    ),
    ("D", "A) Incorrect, since this is small.\nB) Incorrect.\nC) Incorrect.\nD) Correct.", True),
    ("H", "Let's think step by step. ... The answer is (H).", True),
    ("I", "The answer is (I).", True),
    ("I", "Therefore, the answer is I.", True),
    ("A", "I believe the answer is not listed.", False),
    ("A", "None of the options are correct.", False),
    ("C", "I am unable to pick one; both A and C look right.", False),
    ("C", "The answer is option C, not option B.", True),
    ("B", "Final answer: B\n\nExplanation: A is wrong since ..., C is wrong since ...", True),
    ("B", "Correct Answer: **B**. Option A fails, and Option D is irrelevant.", True),
    ("A", "<think>Maybe B. No wait, option A.</think>A", True),
    ("A", "<think>Maybe B. No wait, option A is the answer", False),
    ("C", "\\[\\boxed{\\text{(C)}}\\]", True),
    ("C", "$\\boxed{\\textbf{(C) } 24}$", True),
    ("D", "The final answer is $\\boxed{\\text{D}}$. I hope it is correct.", True),
    ("B", "ANSWER: B", True),
    ("B", "LETTER: B", True),
    ("B", "[[B]]", True),
    ("C", '{"choice": "C"}', True),
    ("C", '{"reasoning": "A is too small", "answer": "C"}', True),
    ("A", "My choice is A).", True),
    ("D", "Thus, statement D is the correct one.", True),
    ("D", "So (D) is correct.", True),
    ("B", "Among these, B is the most plausible.", True),
    ("B", "B is correct because enzymes lower activation energy.", True),
    ("A", "A is correct because enzymes lower activation energy.", True),
    ("A", "A common mistake is to assume that enzymes change equilibrium.", False),
    ("C", "Vitamin A is not involved. The answer is C.", True),
    ("B", "Hepatitis B is a viral infection.", False),
    ("C", "Vitamin C deficiency leads to scurvy.", False),
    ("B", "Answer:\n\nB", True),
    ("B", "Answer:\n\n(B) because of gravity", True),
    ("A", "The answer is A.\nThe answer is B? No, the answer is A.", True),
    ("D", "I first thought B, but D is right.", True),
    ("C", "正确答案是 (C)", True),
    ("C", "答案：C", True),
    ("C", "因此选 C。", True),
    ("B", "La respuesta correcta es la B.", True),
    ("B", "Die richtige Antwort ist (B).", True),
    ("B", "Ответ: B", True),
    ("B", "A resposta correta é B.", True),
    ("B", "正解はBです。", True),
    ("A", "Question: x\nAnswer: A\n\nQuestion: y\nAnswer: B", True),
    ("C", "The answer is: C. 42", True),
    ("C", "The answer is C: 42", True),
    ("C", "C: 42", True),
    ("C", "- C", True),
    ("C", "> **C**", True),
    ("C", "`C`", True),
    ("C", "Option (C)", True),
    ("C", "I'm going with C.", True),
    ("C", "It must be C.", True),
    ("C", "It's C", True),
    ("C", "A, C", False),
    ("B", "A and B", False),
    ("D", "The correct answers are A and D.", False),
    ("A", 'The answer is "A".', True),
    ("A", "<answer>A</answer>", True),
    ("A", "<ANSWER> A </ANSWER>", True),
    ("D", "The answer isn't B. It's D.", True),
    ("B", "Eliminating A, C and D leaves B.", True),
    ("A", "I", False),
    ("A", "E", False),
    ("C", "I think (C) fits best, although (B) is close.", True),
    ("C", "(A) and (C) are both plausible.", False),
    ("B", "B) 42\n\nReasoning: A) is too small, C) too large.", True),
    ("B", "B. Because the pressure rises.", True),
    ("A", "A person would think otherwise.", False),
    ("A", "It is a plant cell.", False),
    ("A", "It is I who asked.", False),
    ("D", "The only statement that holds is D.", True),
    ("D", "D is true.", True),
    ("B", "Group B is the most likely cause of the error.", False),
    ("A", "Plan A is best for the environment.", False),
    ("B", "So, in summary: Option B.", True),
    ("C", "Answer - C", True),
    ("C", "Answer C", True),
    ("C", "Ans: C", True),
    ("C", "Correct: C", True),
    ("A", "Final choice → A", True),
    ("A", "The correct answer would be option A, which says that...", True),
    ("B", "The answer: B) because x", True),
    ("B", "Neither A nor C nor D works, so B.", True),
    ("B", "The correct choice among A, B, C and D is B.", True),
    ("B", "The answer depends on B.", False),
    ("D", "Either B or D could be the answer.", False),
    ("C", "A: no. B: no. C: yes. D: no.", True),
    ("C", "A. False\nB. False\nC. True\nD. False", True),
    ("D", "A. True\nB. False\nC. True\nD. False", False),
    ("A", "My final answer is (A), not (B).", True),
    (
        "D",
        "Let me reconsider. The answer is B. Wait, B contradicts the text. The answer is D.",
        True,
    ),
    ("D", "**Final Answer**\n\nD) Photosynthesis", True),
    ("D", "### Answer: D ###", True),
    ("D", "The letter of the correct answer is D", True),
    ("B", "Option A: 5. Option B: 7. We computed 7, so the answer is Option B.", True),
    ("E", "\\boxed{E. None of the above}", True),
    ("E", "\\boxed{E} none", True),
    ("C", "La bonne réponse est la C.", True),
    ("C", "Правильный ответ: C", True),
    ("C", "答えは C です", True),
    ("C", "選択肢Cが正しい。答え：C", True),
    ("C", "정답: C", True),
    ("C", "The answer is (C) since A is wrong.", True),
    ("B", "Thus it's B.", True),
    ("B", "I would go with B, but it's not certain.", True),
    ("B", "It's A/B.", False),
    ("A", "Not A.", False),
    ("A", "The answer is not A.", False),
    ("A", "The answer is not (A).", False),
    (
        "B",
        "Since A is false and C is false and D is false, the remaining one, B, is correct.",
        True,
    ),
    ("A", "Let's pick a number. In a typical cell, there are 46.", False),
    ("C", "c) 12", True),
    ("C", "(c)", True),
]
"""Responses that were judged before the rules that they led to: of the first 67, 18 were misread, one
as another letter, and of the other 50, after corrections, 12, one as another letter."""


def by_at_k(checker: str) -> Callable[[str, str], bool]:
    metric = at_k.load("gpassk")

    def verdict(reference: str, response: str) -> bool:
        scores = metric.compute(
            predictions=[[response]],
            references=[reference],
            check_correct_fn=checker,
            k=1,
            include="pass@k",
        )
        return bool(scores["pass@1"])

    return verdict


def by_flexible_extract() -> Callable[[str, str], bool]:
    from lm_eval.api.metrics import exact_match_hf_evaluate
    from lm_eval.filters.extraction import RegexFilter

    extract = RegexFilter(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", group_select=-1)
    ignored = [",", r"\$", "(?s).*#### ", r"\.$"]

    def verdict(reference: str, response: str) -> bool:
        ((extracted,),) = extract.apply([[response]], [{}])
        scores = exact_match_hf_evaluate(
            predictions=[extracted], references=[reference], regexes_to_ignore=ignored
        )
        return bool(scores["exact_match"])

    return verdict


def by_multi_choice_regex() -> Callable[[str, str], bool]:
    """Return the filter of lm-evaluation-harness that the tasks of BBH use."""
    from lm_eval.filters.extraction import MultiChoiceRegexFilter

    extract = MultiChoiceRegexFilter(
        regex_pattern=r"(\([A-Z]\))", group_select=-1, ignore_case=True, ignore_punctuation=True
    )

    def verdict(reference: str, response: str) -> bool:
        ((extracted,),) = extract.apply([[response]], [{"choices": []}])
        return extracted.strip("()").upper() == reference.upper()

    return verdict


def by_lighteval() -> Callable[[str, str], bool]:
    from lighteval.metrics.dynamic_metrics import MultilingualExtractiveMatchMetric
    from lighteval.metrics.utils.extractive_match_utils import (
        ExprExtractionConfig,
        LatexExtractionConfig,
    )
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc
    from lighteval.utils.language import Language

    targets = (ExprExtractionConfig(), LatexExtractionConfig())
    metric = MultilingualExtractiveMatchMetric(Language.ENGLISH, targets, targets)

    def verdict(reference: str, response: str) -> bool:
        doc = Doc(query="", choices=[reference], gold_index=0)
        return bool(metric.compute(doc, ModelResponse(text=[response])))

    return verdict


def checkers() -> dict[str, Callable[[str, str], bool]]:
    """Return the checkers whose libraries are installed."""
    found: dict[str, Any] = {"numeric": by_at_k("numeric"), "choice": by_at_k("choice")}
    if find_spec("math_verify"):
        found["math_verify"] = by_at_k("math_verify")
    if find_spec("lm_eval"):
        found["flexible-extract of lm-eval"] = by_flexible_extract()
        found["multi_choice_regex of lm-eval"] = by_multi_choice_regex()
    if find_spec("lighteval"):
        found["lighteval"] = by_lighteval()
    return found


def wrong_verdicts(verdict: Callable[[str, str], bool], cases: list[Case] = CASES) -> list[Case]:
    """Return the cases that a checker judges in another way than a reader."""
    return [case for case in cases if verdict(*case[:2]) != case[2]]


# --- Responses that ship with the package -----------------------------------------------

MISREAD = (
    'This is a classic example of a mathematical identity, often referred to as the "7 Identity"',
    "6 + 3 = 9\n\nIn this context, you are asked to calculate 6 + 3,",
    "5 * 6 = 30\n\nYour answer is correct",
    "Ines has 3 - 3 = 0 pens.\nInes has 3 - 3 =",
)
"""How the responses begin that `numeric` judges otherwise than a reader."""


def cases_of_samples() -> list[Case]:
    """Return the distinct responses, and whether each is correct."""
    files = sorted(Path(at_k.__file__).with_name("samples").glob("*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    pairs = dict.fromkeys((row["reference"], text) for row in rows for text in row["predictions"])
    numeric = by_at_k("numeric")
    return [(*pair, numeric(*pair) != pair[1].startswith(MISREAD)) for pair in pairs]


# --- Texts in the tests of other projects -----------------------------------------------


def cases_of_tests(source: Path) -> list[Case]:
    """Return the cases in the tests of an sdist or a folder, each once."""
    cases = (case for text in _tests(source) for case in _cases_of_module(ast.parse(text)))
    return list(dict.fromkeys(cases))


def _tests(source: Path) -> Iterator[str]:
    if source.is_dir():
        yield from (file.read_text(encoding="utf-8") for file in sorted(source.rglob("test_*.py")))
        return
    with tarfile.open(source) as archive:
        for member in archive:
            name = Path(member.name).name
            if name.startswith("test_") and name.endswith(".py"):
                content = archive.extractfile(member)
                assert content is not None
                yield content.read().decode()


def _cases_of_module(module: ast.Module) -> Iterator[Case]:
    """Yield the cases of each list for `parametrize` that has no other parameters."""
    for node in ast.walk(module):
        if not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "parametrize"):
            continue
        names, rows = node.args[:2]
        if not (isinstance(names, ast.Constant) and isinstance(rows, ast.List)):
            continue
        given = [name.strip() for name in str(names.value).split(",")]
        if given not in (["gold", "pred", "expected"], ["gold", "pred", "result"]):
            continue
        for row in rows.elts:
            if not any(isinstance(part, ast.JoinedStr | ast.Name) for part in ast.walk(row)):
                gold, response, expected = ast.literal_eval(row)
                yield gold, response, bool(expected)


def takes_reference(reference: str) -> bool:
    """Whether `numeric` takes a reference: whether it is one number."""
    try:
        by_at_k("numeric")(reference, "1")
    except ValueError:
        return False
    return True


# --- The study --------------------------------------------------------------------------


def print_rates(cases: list[Case], checked_with: list[str], show_wrong: bool) -> None:
    correct = sum(case[2] for case in cases)
    print(f"{len(cases)} texts, of which {correct} are correct")
    for name, verdict in checkers().items():
        if name not in checked_with:
            continue
        wrong = wrong_verdicts(verdict, cases)
        misses = sum(case[2] for case in wrong)
        false = len(wrong) - misses
        print(
            f"{name}: {false} false positives ({false / max(1, len(cases) - correct):.0%}), "
            f"{misses} false negatives ({misses / max(1, correct):.0%})"
        )
        if show_wrong:
            print(*wrong, sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="print the cases")
    parser.add_argument("--held-out", action="store_true", help="texts no rule was adjusted to")
    parser.add_argument("--further", action="store_true", help="texts in the styles of many models")
    parser.add_argument("--choices", action="store_true", help="texts with letters")
    parser.add_argument("--samples", action="store_true", help="responses of the package")
    parser.add_argument("--tests", nargs="+", type=Path, help="sdists or folders with tests")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    of_choices = arguments.choices
    every = [name for name in checkers() if name.startswith(("choice", "multi")) == of_choices]
    if of_choices:
        cases = FURTHER_CHOICES if arguments.further else CHOICES
        print_rates([case for case in cases if len(case[0]) == 1], every, arguments.wrong)
        return
    if not arguments.tests:
        cases = HELD_OUT if arguments.held_out else CASES
        cases = FURTHER if arguments.further else cases
        cases = cases_of_samples() if arguments.samples else cases
        print_rates(cases, every, arguments.wrong)
        return
    cases = [case for source in arguments.tests for case in cases_of_tests(source)]
    numbers = [case for case in cases if takes_reference(case[0])]
    print_rates(numbers, every, arguments.wrong)
    others = [case for case in cases if case not in numbers]
    print_rates(others, [name for name in every if name != "numeric"], arguments.wrong)


if __name__ == "__main__":
    main()
