"""Names and relations of the sample diary, by simple rules and by ours, as the Markdown of docs/links.md.

What it is for: to show what the rules of a plain linker find, where they go wrong, and what memory_extract and
memory_related make of the same sections. The simple rules: CamelCase words, `code spans`, acronyms of two and
more capitals, Chinese terms that end in 系统, 框架, 工具, 配置 or 优化, URLs, paths; #tags; two sections are related
by the share of names and tags they have in common; the five most alike of each are kept.

Needs the private cluster with the diary: make demo, then python3 scripts/simple_links.py > docs/links.md
"""

from __future__ import annotations

import re
import sys

import psycopg

NAMESPACE = "diary"
# Shorter sections are left out, as by the simple linker.
SHORTEST = 50
RELATED = 5
RULES = [
    r"\b[A-Z][a-z]+(?:[A-Z][a-z]*)+\b",
    r"`([^`\n]+)`",
    r"\b[A-Z]{2,}\b",
    r"[\u4e00-\u9fff]{2,8}(?:系统|框架|工具|配置|优化)",
    r"https?://\S+",
    r"(?<!\S)(?:~|\.{0,2})/\S+",
]
TAG = r"#([\w\u4e00-\u9fff]+)"


def simple_names(text: str) -> set[str]:
    """Names and tags of a text by the simple rules."""
    names = set()
    for rule in RULES:
        for match in re.finditer(rule, text, re.ASCII if rule.startswith(r"\b") else 0):
            names.add(match.group(match.lastindex or 0))
    # A tag and a name of the same word are one, here and in ours.
    return names | set(re.findall(TAG, text))


def simple_pairs(names: dict[int, set[str]]) -> dict[tuple[int, int], float]:
    """Related sections, each pair once: the five most alike of each."""
    pairs = {}
    for one, mine in names.items():
        alike = []
        for other, theirs in names.items():
            if other != one and mine & theirs:
                alike.append((len(mine & theirs) / len(mine | theirs), other))
        for share, other in sorted(alike, key=lambda pair: (-pair[0], pair[1]))[:RELATED]:
            pairs[min(one, other), max(one, other)] = share
    return pairs


def plain(name: str) -> str:
    return name.replace("|", "\\|").replace("\n", " ")


def listed(names: set[str] | list[str], limit: int = 12) -> str:
    some = sorted(names)
    return "、".join(plain(name) for name in some[:limit]) + (" …" if len(some) > limit else "") or "–"


def main() -> int:
    with psycopg.connect(autocommit=True) as connection:
        rows = connection.execute(
            "select id, path, chunk_index, memory_whole_text(title, content), title from memories"
            " where namespace = %s and length(content) >= %s order by path, chunk_index",
            (NAMESPACE, SHORTEST)).fetchall()
        if not rows:
            print("error: there is no diary; run: make demo", file=sys.stderr)
            return 1
        texts = {row[0]: row[3] for row in rows}
        places = {row[0]: f"{row[1].removeprefix('diary/')}#{row[2]}" for row in rows}
        simple = {number: simple_names(text) for number, text in texts.items()}
        ours, pairs = {}, {}
        for number, text in texts.items():
            ours[number] = {name for name, in connection.execute("select name from memory_extract(%s)", (text,))}
            for other, score, shared in connection.execute(
                    "select id, score, shared from memory_related(%s::bigint, %s)", (number, RELATED)):
                if other in texts:
                    pairs[min(number, other), max(number, other)] = (score, shared)
    by_rules = simple_pairs(simple)
    all_simple = set().union(*simple.values())
    all_ours = set().union(*ours.values())
    alone = [number for number in texts if not any(number in pair for pair in by_rules)]
    alone_here = [number for number in texts if not any(number in pair for pair in pairs)]

    print("# Links: simple rules and ours\n")
    print("The sample diary (`examples/diary`), sections of 50 characters and more, once by the rules a plain linker")
    print("uses and once by `memory_extract` and `memory_related`. Made by `scripts/simple_links.py`, which has the rules.")
    print("Ours relate sections by nearness of meaning as well, and follow no name that is nearly everywhere.\n")
    print("| | simple rules | ours |\n|---|---|---|")
    print(f"| sections | {len(texts)} | {len(texts)} |")
    print(f"| different names and tags | {len(all_simple)} | {len(all_ours)} |")
    print(f"| related pairs, five a section at most | {len(by_rules)} | {len(pairs)} |")
    print(f"| pairs of the other column among them | {len(by_rules.keys() & pairs.keys())} |"
          f" {len(by_rules.keys() & pairs.keys())} |")
    print(f"| sections without a relation | {len(alone)} | {len(alone_here)} |\n")

    print("## Names a section\n\nOnly what one of the two has and the other has not.\n")
    print("| section | simple rules only | ours only |\n|---|---|---|")
    for number in texts:
        less, more = simple[number] - ours[number], ours[number] - simple[number]
        if less or more:
            print(f"| {places[number]} | {listed(less)} | {listed(more)} |")

    print("\n## Relations\n\nThe ten closest pairs by ours, and what the simple rules give them.\n")
    print("| sections | ours | names in common | simple rules |\n|---|---|---|---|")
    closest = sorted(pairs.items(), key=lambda pair: (-pair[1][0], pair[0]))[:10]
    for (one, other), (score, shared) in closest:
        rule = by_rules.get((one, other))
        print(f"| {places[one]}, {places[other]} | {score:.2f} | {listed(shared)} |"
              f" {f'{rule:.2f}' if rule is not None else 'not related'} |")
    print("\nThe ten closest pairs by the simple rules, and what ours give them.\n")
    print("| sections | simple rules | names in common | ours |\n|---|---|---|---|")
    for (one, other), share in sorted(by_rules.items(), key=lambda pair: (-pair[1], pair[0]))[:10]:
        mine = pairs.get((one, other))
        print(f"| {places[one]}, {places[other]} | {share:.2f} | {listed(simple[one] & simple[other])} |"
              f" {f'{mine[0]:.2f}' if mine else 'not among its five'} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
