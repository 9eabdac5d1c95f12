"""Writes the measured part of docs/performance/cells.md from the JSON files of `collie bench`: python3 scripts/performance.py FILE..."""

import json
import math
import sys
from pathlib import Path

import page

OPERATIONS = ["bcast", "reduce", "allreduce", "gather", "scatter", "allgather"]


def size(number):
    for unit, letter in ((1 << 20, "M"), (1 << 10, "K")):
        if number >= unit and number % unit == 0:
            return f"{number // unit}{letter}"
    return str(number)


def place(cell):
    nodes = cell["ranks_per_node"]
    return f"{cell['ranks']} ranks" if len(nodes) == 1 else f"{len(nodes)} nodes × {nodes[0]}"


def microseconds(seconds):
    return f"{seconds * 1e6:.3g}" if seconds < 1e-3 else f"{seconds * 1e6:.0f}"


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def main(files):
    rows = {}
    for file in files:
        report = json.loads(Path(file).read_text())
        for cell in report["cells"]:
            if cell["operation"] not in OPERATIONS:
                continue
            variants = {row["variant"]: row for row in cell["variants"]}
            native, ours = variants["native"]["seconds"]["median"], variants["auto"]["seconds"]["median"]
            key = (report["mpi_library"], place(cell))
            rows.setdefault(key, {})[(cell["operation"], cell["bytes"])] = (
                native, ours, variants["auto"]["algorithm"], cell.get("bound_seconds"))
    lines = []
    for mpi in sorted({mpi for mpi, _ in rows}):
        ratios = [native / ours for key, cells in rows.items() if key[0] == mpi for native, ours, _, _ in cells.values()]
        below = sum(ratio < 0.9 for ratio in ratios)
        lines.append(f"- {mpi}: geometric mean of native/ours **{mean(ratios):.2f}** over {len(ratios)} cells; {below} below 0.9.")
    for (mpi, where), cells in sorted(rows.items()):
        sizes = sorted({bytes_ for _, bytes_ in cells})
        lines += ["", f"## {mpi}, {where}", "", "Native time over ours; in brackets ours over the bound, where a link has one.", ""]
        lines.append("| | " + " | ".join(map(size, sizes)) + " | mean |")
        lines.append("| --- |" + " ---: |" * (len(sizes) + 1))
        for operation in OPERATIONS:
            texts, ratios = [], []
            for bytes_ in sizes:
                if (operation, bytes_) not in cells:
                    texts.append("")
                    continue
                native, ours, _, bound = cells[(operation, bytes_)]
                ratios.append(native / ours)
                text = f"{native / ours:.2f}"
                if bound and bytes_ >= 32 << 10:
                    text += f" ({ours / bound:.2f})"
                texts.append(f"**{text}**" if native / ours < 0.9 else text)
            lines.append(f"| {operation} | " + " | ".join(texts) + f" | {mean(ratios):.2f} |")
        lines += ["", "<details><summary>Times in microseconds, native → ours, and what ran</summary>", ""]
        lines.append("| | bytes | native | ours | algorithm |")
        lines.append("| --- | ---: | ---: | ---: | --- |")
        for operation in OPERATIONS:
            for bytes_ in sizes:
                if (operation, bytes_) in cells:
                    native, ours, algorithm, _ = cells[(operation, bytes_)]
                    lines.append(f"| {operation} | {size(bytes_)} | {microseconds(native)} | {microseconds(ours)} | `{algorithm}` |")
        lines += ["", "</details>"]
    page.write("cells", "measured", "\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
