"""Writes what scripts/shared-memory measured into docs/performance/shared-memory.md: python3 scripts/shared_memory.py FILE..."""

import json
import sys
from pathlib import Path

import page
from performance import mean, microseconds, size

OPERATIONS = ["barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather"]


def seconds(cell, variant):
    return next(row["seconds"]["median"] for row in cell["variants"] if row["variant"] == variant)


def over(cell, variant):
    return seconds(cell, "native") / seconds(cell, variant)


def named(cell):
    return cell["operation"] if cell["operation"] == "barrier" else f"{cell['operation']} {size(cell['bytes'])}"


def main(files):
    summary = ["| MPI | ranks | native/messages | native/shared | worst of native/shared | barrier: shared/native |",
               "| --- | ---: | ---: | ---: | --- | ---: |"]
    details = []
    for file in files:
        report = json.loads(Path(file).read_text())
        cells = report["cells"]
        ranks = cells[0]["ranks"]
        moved = [cell for cell in cells if cell["operation"] != "barrier"]
        barrier = [seconds(cell, "shared") / seconds(cell, "native") for cell in cells if cell["operation"] == "barrier"]
        worst = sorted(moved, key=lambda cell: over(cell, "shared"))[:2]
        crowded = " (sharing cores)" if cells[0]["oversubscribed"] else ""
        messages, shared = (mean([over(cell, variant) for cell in moved]) for variant in ("messages", "shared"))
        least = ", ".join(f"{over(cell, 'shared'):.2f} ({named(cell)})" for cell in worst)
        barriers = ", ".join(f"{ratio:.2f}" for ratio in barrier)
        summary.append(f"| {report['mpi_library']} | {ranks}{crowded} | {messages:.2f} | **{shared:.2f}** | {least} | {barriers} |")
        sizes = sorted({cell["bytes"] for cell in moved})
        details += ["", f"<details><summary>{report['mpi_library']}, {ranks} ranks: native/shared, in brackets the time over shared memory in µs"
                    "</summary>", "", "| | " + " | ".join(map(size, sizes)) + " |", "| --- |" + " ---: |" * len(sizes)]
        for operation in OPERATIONS[1:]:
            by_size = {cell["bytes"]: cell for cell in moved if cell["operation"] == operation}
            texts = []
            for bytes_ in sizes:
                cell = by_size.get(bytes_)
                texts.append(f"{over(cell, 'shared'):.2f} ({microseconds(seconds(cell, 'shared'))})" if cell else "")
            details.append(f"| {operation} | " + " | ".join(texts) + " |")
        details += ["", "</details>"]
    page.write("shared-memory", "shared", "\n".join(summary + details))
    print("\n".join(summary))


if __name__ == "__main__":
    main(sys.argv[1:])
