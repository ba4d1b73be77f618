"""Figures of the benches: one JSON file a section, and one Markdown table of all sections.

What it is not: a judge. A target that is missed is shown and fails nothing: how fast a machine is says
nothing about whether the code is right.

What must hold: the files name the machine by what it can do, never by its name or folders.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One measured number and, if there is one, the limit it should keep."""

    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def target(self) -> str:
        """The limit as people write it."""
        if self.at_most is not None:
            return f"<= {number(self.at_most)} {self.unit}".rstrip()
        if self.at_least is not None:
            return f">= {number(self.at_least)} {self.unit}".rstrip()
        return ""

    @property
    def verdict(self) -> str:
        """yes or no, empty without a target."""
        if not self.target:
            return ""
        low = self.at_least is None or self.value >= self.at_least
        high = self.at_most is None or self.value <= self.at_most
        return "yes" if low and high else "no"


def number(value: float) -> str:
    """Three significant digits, and all digits before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def write_section(folder: Path, section: str, what: str, machine: str, figures: list[Figure]) -> None:
    """Replaces SECTION.json."""
    rows = [{k: v for k, v in asdict(figure).items() if v is not None} for figure in figures]
    content = {"section": section, "what": what, "machine": machine, "figures": rows}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{section}.json").write_text(
        json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
    )


def write_table(folder: Path, sections: list[str]) -> str:
    """Replaces README.md by a table of the sections that have been measured, and returns it."""
    rows, notes = [], []
    for section in sections:
        path = folder / f"{section}.json"
        if not path.is_file():
            continue
        content = json.loads(path.read_text(encoding="utf-8"))
        for row in content["figures"]:
            figure = Figure(**row)
            value = f"{number(figure.value)} {figure.unit}".rstrip()
            rows.append(f"| {section} | {figure.name} | {value} | {figure.target} | {figure.verdict} |")
        notes.append(f"- **{section}**: {content['what']} {content['machine']}")
    table = "\n".join(
        [
            "# Benchmark results",
            "",
            "Written by `make bench`; not to be edited.",
            "",
            "| section | figure | value | target | met |",
            "|---|---|---:|---:|---|",
            *rows,
            "",
            *notes,
            "",
        ]
    )
    (folder / "README.md").write_text(table, encoding="utf-8")
    return table
