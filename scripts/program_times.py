"""Writes into docs/performance/programs.md what the times come to that scripts/real-programs --times took: program_times.py TIMES.csv"""

import csv
import statistics
import sys

import page
from learning import interval

MODES = ["replace", "best", "learn"]
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}


def main(file):
    runs = {}
    with open(file, newline="") as lines:
        for name, family, ranks, round_, mode, seconds in csv.reader(lines):
            runs.setdefault((name, family, int(ranks)), {}).setdefault(int(round_), {})[mode] = float(seconds)
    table = [
        "| program | MPI | ranks | rounds | native, s | " + " | ".join(f"{mode} / native" for mode in MODES) + " |",
        "| --- | --- | ---: | ---: | ---: |" + " ---: |" * len(MODES),
    ]
    for (name, family, ranks), rounds in runs.items():
        texts = []
        for mode in MODES:
            middle, low, high = interval([times[mode] / times["native"] for times in rounds.values()])
            texts.append(f"{middle:.3f} ({low:.3f} to {high:.3f})")
        native = statistics.median(times["native"] for times in rounds.values())
        table.append(f"| {name} | {NAMES[family]} | {ranks} | {len(rounds)} | {native:.3g} | " + " | ".join(texts) + " |")
    text = "\n".join(table)
    page.write("programs", "programs", text)
    print(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
