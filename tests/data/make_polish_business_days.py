#!/usr/bin/env python3
"""Prints tests/data/polish_business_days.tsv.

pip install holidays==0.109 && tests/data/make_polish_business_days.py > tests/data/polish_business_days.tsv
"""

from datetime import date, timedelta

import holidays

DAY = timedelta(days=1)
POLAND = holidays.country_holidays("PL", years=range(2023, 2032))


def later(day, count):
    while count:
        day += DAY
        count -= day.weekday() < 5 and day not in POLAND
    return day


print(f"# Written by make_polish_business_days.py with holidays {holidays.__version__}: day, holiday, five business days later.")
day = date(2024, 1, 1)
while day.year < 2031:
    print(day, "holiday" if day in POLAND else "", later(day, 5), sep="\t")
    day += DAY
