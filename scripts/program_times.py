"""Writes into docs/performance.md what the times come to that scripts/real-programs --times took: program_times.py TIMES.csv"""

import csv
import re
import statistics
import sys
from pathlib import Path

from learning import interval

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
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
    page = PAGE.read_text()
    marked = f"<!-- programs -->\n{text}\n<!-- /programs -->"
    PAGE.write_text(re.sub(r"<!-- programs -->.*<!-- /programs -->", lambda _: marked, page, flags=re.S))
    print(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
