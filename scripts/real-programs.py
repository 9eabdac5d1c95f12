"""Compares what a program said without and with Collie: words must be equal, numbers within a tolerance.

real-programs.py NATIVE COLLIE REPORT TOLERANCE RANKS
"""

import json
import re
import sys

# Fortran writes exponents with D, too, and leaves out the blank before a minus sign.
NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?)")


def number(word):
    return float(re.sub("[dD]", "e", word))


def same(a, b, tolerance):
    """Whether two lines are, up to numbers that lie apart by at most the tolerance: relative, and absolute below 1."""
    if a == b:
        return True
    # Words at even places, numbers at odd ones.
    left, right = NUMBER.split(a), NUMBER.split(b)
    if len(left) != len(right) or [w.split() for w in left[::2]] != [w.split() for w in right[::2]]:
        return False
    pairs = zip(map(number, left[1::2]), map(number, right[1::2]))
    return all(abs(x - y) <= tolerance * max(1.0, abs(x), abs(y)) for x, y in pairs)


def main(native, collie, report, tolerance, ranks):
    with open(native) as first, open(collie) as second:
        a, b = first.read().splitlines(), second.read().splitlines()
    if not a:
        sys.exit("said nothing to compare, without Collie")
    different = [pair for pair in zip(a, b) if not same(*pair, float(tolerance))]
    if different or len(a) != len(b):
        shown = "".join(f"\n  native: {x}\n  Collie: {y}" for x, y in different[:3])
        sys.exit(f"DIFFERENT: {len(different)} of {len(a)} lines, {len(b)} under Collie{shown}")
    try:
        with open(report) as file:
            rows = json.load(file)["rows"]
    except FileNotFoundError:
        sys.exit("no report")
    ours = sum(row["calls_all_ranks"] for row in rows if row["algorithm"] != "native")
    calls = sum(row["calls_all_ranks"] for row in rows)
    # A rank by itself keeps to the MPI library.
    if not ours and int(ranks) > 1:
        sys.exit(f"none of {calls} calls replaced")
    equal = sum(x == y for x, y in zip(a, b))
    print(f"the same with and without Collie: {len(a)} lines, {equal} of them to the last digit; "
          f"{ours} of {calls} calls replaced")


main(*sys.argv[1:])
