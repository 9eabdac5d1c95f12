"""What scripts/learning measured.

python3 scripts/learning.py slowest ALL.json           tables that name the slowest algorithm of each cell
python3 scripts/learning.py tell [--write] FILE...     what learning came to; --write: into docs/performance/learning.md
"""

import json
import math
import statistics
import sys
from pathlib import Path

import page

# Student's t for 95 %, by degrees of freedom.
STUDENT = [0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23]
MODES = {"native": "native", "auto": "replace", "best": "best", "learn": "learn"}


def size(number):
    return f"{number >> 10} KiB" if number >= 1024 and number % 1024 == 0 else f"{number} B"


def slowest(file):
    lines = ["# operation ranks bytes algorithm: the slowest of all that were measured"]
    for cell in json.loads(Path(file).read_text())["cells"]:
        ours = [row for row in cell["variants"] if row["variant"] not in ("native", "auto")]
        worst = max(ours, key=lambda row: row["seconds"]["median"])
        lines.append(f"{cell['operation']} {cell['ranks']} {cell['bytes']} {worst['algorithm']}")
    print("\n".join(lines))


def interval(ratios):
    """The median of jobs' ratios, which one job that was held up does not move, with the 95 % interval of their geometric mean;
    no interval of one job."""
    logs = [math.log(ratio) for ratio in ratios]
    if len(logs) < 2:
        return ratios[0], 0.0, math.inf
    middle = statistics.mean(logs)
    half = STUDENT[min(len(logs) - 1, 10)] * statistics.stdev(logs) / math.sqrt(len(logs))
    return statistics.median(ratios), math.exp(middle - half), math.exp(middle + half)


def place_of(cell):
    nodes = cell["ranks_per_node"]
    return f"{cell['ranks']} ranks" if len(nodes) == 1 else f"{len(nodes)} × {nodes[0]}"


class Cell:
    """One cell in all its jobs."""

    def __init__(self, jobs):
        self.jobs = [{row["variant"]: row["seconds"] for row in job["variants"]} for job in jobs]
        self.name = f"{jobs[0]['operation']} {size(jobs[0]['bytes'])}"
        self.algorithm = {row["variant"]: row["algorithm"] for row in jobs[0]["variants"]}
        # Native and what learning tries; which is the best one medians say, lest the luckiest job be taken for it. What a job tries
        # rests on the limits that it has measured: only what all have tried can be compared.
        everywhere = set.intersection(*(set(job) for job in self.jobs))
        tried = [name for name in self.jobs[0] if name in everywhere and name not in ("auto", "best", "learn")]
        self.best = min(tried, key=lambda name: statistics.median(job[name]["median"] for job in self.jobs))

    def over(self, name, other, what):
        return statistics.median(job[name][what] / job[other][what] for job in self.jobs)

    def regret(self, name, what="mean"):
        return self.over(name, self.best, what) - 1

    def against_native(self):
        return interval([job["learn"]["mean"] / job["native"]["mean"] for job in self.jobs])


def tell(files, write):
    groups, rounds = {}, {}
    for file in dict.fromkeys(files):
        if file.endswith("-all.json"):
            continue
        report = json.loads(Path(file).read_text())
        tables = "slowest" if "-slowest-" in file else "Collie's"
        calls = report["pattern"]["in_a_row"]
        for cell in report["cells"]:
            key = (report["mpi_library"], place_of(cell), tables)
            groups.setdefault(key, {}).setdefault((cell["operation"], cell["bytes"]), []).append(cell)
            rounds.setdefault(key, []).append(cell["rounds"] * calls)
    lines = [
        "| MPI | where | tables | cells | jobs | calls of each | native | replace | best | learn | learn, median call "
        "| cells over 1.03 of native: beyond noise, all | the worst |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    worst_cells, in_short = [], []
    for (mpi, where, tables), cells in sorted(groups.items()):
        cells = [Cell(jobs) for jobs in cells.values()]
        mean = lambda name, what="mean": f"{100 * statistics.mean(cell.regret(name, what) for cell in cells):.1f} %"
        against = sorted(((cell.against_native(), cell) for cell in cells), key=lambda pair: pair[0][0])
        over = [pair for pair in against if pair[0][0] > 1.03]
        beyond = [pair for pair in over if pair[0][1] > 1.03]
        (ratio, low, high), worst = against[-1]
        noise = "" if math.isinf(high) else f" ({low:.2f} to {high:.2f})"
        # A single job does not tell what is noise.
        told = len(beyond) if len(worst.jobs) > 1 else "–"
        calls = rounds[mpi, where, tables]
        lines.append(
            f"| {mpi} | {where} | {tables} | {len(cells)} | {len(worst.jobs)} | {min(calls)}"
            + (f" to {max(calls)}" if max(calls) > min(calls) else "")
            + "".join(f" | {mean(name)}" for name in MODES)
            + f" | {mean('learn', 'median')} | {told}, {len(over)} | {worst.name}: {ratio:.2f}{noise} |"
        )
        named = "tables of the slowest algorithms" if tables == "slowest" else "Collie's tables"
        in_short.append(
            f"- {mpi}, {where}, {named}: regret of learn {mean('learn')} on average over {len(cells)} cells (aim: 5 %), in the median call "
            f"{mean('learn', 'median')}; replace {mean('auto')}, best {mean('best')}, native {mean('native')}. Worst cell of learn over "
            f"native: {worst.name}, {ratio:.2f}{noise} (aim: 1.03); {len(over)} over 1.03, {told} beyond noise."
        )
        for cell in sorted(cells, key=lambda cell: -cell.regret("learn"))[:6]:
            native = cell.jobs[0]["native"]["mean"] * 1e6
            worst_cells.append(
                f"| {mpi} | {where} | {tables} | {cell.name} | {native:.3g} | {cell.best} | {100 * cell.regret('learn'):.0f} % "
                f"| {100 * cell.regret('learn', 'median'):.0f} % | {100 * cell.regret('auto'):.0f} % |"
            )
    detail = [
        "| MPI | where | tables | cell | native, µs | fastest | learn | median call | replace |",
        "| --- | --- | --- | --- | ---: | --- | ---: | ---: | ---: |",
    ]
    detail += worst_cells
    folded = ["", "<details><summary>The cells in which learning lost most</summary>", "", *detail, "", "</details>", ""]
    text = "\n".join(lines + folded + in_short)
    if write:
        page.write("learning", "learning", text)
    print(text)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["slowest", file]:
            slowest(file)
        case ["tell", "--write", *files]:
            tell(files, True)
        case ["tell", *files]:
            tell(files, False)
        case _:
            sys.exit(__doc__)
