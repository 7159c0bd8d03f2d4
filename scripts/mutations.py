"""Where the product's C++ can be broken by one operator, and how; for scripts/mutate."""
import dataclasses
import os
import random
import re
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src/", "theorems/", "checker/", "scenarios/")
TOKEN = re.compile(r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.)*
        |R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
    |(?P<number>\.?\d(?:[eE][+-]|['.\w])*)|[A-Za-z_]\w*|<=>|<<=|>>=|->|\+\+|--|&&|\|\||[-+*/<>=!]=|::|<<|.""", re.S | re.M | re.X)
# Operators that stand between blanks, as clang-format leaves them: without blanks it is a template's bracket, a pointer or a sign.
BETWEEN_BLANKS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
                  "&&": ("||",), "||": ("&&",), "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",),
                  "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",)}
WORDS = {"true": "false", "false": "true", "min": "max", "max": "min", "abs": "", "fabs": ""}
NOT_BROKEN = {"throw", "static_assert", "template", "using", "case"}  # statements that say what a message or a type is


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    column: int
    offset: int
    old: str
    new: str
    before: str  # the line, runs of blanks made one
    after: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def key(self) -> tuple:
        """The same after edits elsewhere in the file."""
        return self.file, self.before, self.after


def closing(tokens: list, opening: int) -> int:
    """Where the bracket closes that opens at tokens[opening]."""
    depth = 0
    for at in range(opening, len(tokens) - 1):
        depth += {"(": 1, ")": -1}.get(tokens[at].group(), 0)
        if depth == 0:
            return at
    return len(tokens) - 2


def breaks(text: str):
    """(offset, old, new) of every break of a file."""
    tokens = [match for match in TOKEN.finditer(text) if not match.group("skip")]
    statement, templates = "", 0
    for at, match in enumerate(tokens):
        token, offset = match.group(), match.start()
        previous = tokens[at - 1].group() if at else ";"
        following = tokens[at + 1].group() if at + 1 < len(tokens) else ""
        blank_before, blank_after = text[offset - 1:offset].isspace(), text[match.end():match.end() + 1].isspace()
        if previous in ";{})" or token in NOT_BROKEN:
            statement = token
        if token in ";{":
            templates = 0
        elif token == "<" and (not blank_before or previous == "template"):
            templates += 1
        elif token == ">" and not blank_before:
            templates -= templates > 0
        if templates or statement in NOT_BROKEN:
            continue
        if token in BETWEEN_BLANKS and blank_before and blank_after and '"' not in (text[offset - 2], text[match.end() + 1]):
            yield from ((offset, token, new) for new in BETWEEN_BLANKS[token])
        elif token == "!":
            yield offset, token, ""
        elif token in ("true", "false"):
            yield offset, token, WORDS[token]
        elif token in WORDS and previous == "::" and following == "(":
            start = tokens[at - 2].start() if not WORDS[token] else offset  # std::abs goes as a whole
            yield start, text[start:match.end()], WORDS[token]
        elif match.group("number") and re.fullmatch(r"\d+(\.\d+)?", token):
            yield offset, token, str(int(token) + 1) if token.isdigit() else f"(1 + {token})"
        elif token == "if" and following == "(":
            end = closing(tokens, at + 1)
            condition = text[tokens[at + 1].start():tokens[end].end()]
            if tokens[end + 1].group() in ("return", "continue", "break") and not re.search(r" = |;", condition):
                yield tokens[at + 1].start(), condition, "(false)"


def mutants_of(file: str) -> list:
    text = (ROOT / file).read_text()
    found = []
    for offset, old, new in breaks(text):
        start, stop = text.rfind("\n", 0, offset) + 1, text.find("\n", offset + len(old))
        lines = text[start:stop], text[start:offset] + new + text[offset + len(old):stop]
        before, after = (" ".join(line.split()) for line in lines)
        if "HWY_" not in before:
            found.append(Mutant(file, text.count("\n", 0, offset) + 1, offset - start + 1, offset, old, new, before, after))
    return found


def tree() -> list:
    """Every file of the tree, committed or not."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in names.splitlines() if (ROOT / name).is_file()]


def all_mutants(folders: list) -> list:
    """Of the folders, or of all if none is given."""
    files = [name for name in tree() if name.startswith(FOLDERS) and name.endswith((".cpp", ".hpp"))]
    wanted = [folder.rstrip("/") for folder in folders]
    return [mutant for name in files if not wanted or os.path.dirname(name) in wanted for mutant in mutants_of(name)]


def choose(candidates: list, count: int, seed: int) -> list:
    """A folder's share is its share of the breaks, and at least one. Headers, dear to rebuild, are drawn less often, and numbers half as
    often as operators. The draw goes by the text of a line, so that an edit elsewhere changes little of it."""
    def rank(mutant: Mutant) -> float:
        power = (4 if mutant.file.endswith(".hpp") else 1) * (2 if mutant.old[0].isdigit() else 1)
        return random.Random(f"{seed} {mutant.key}").random() ** power
    folders = defaultdict(list)
    for mutant in candidates:
        folders[os.path.dirname(mutant.file)].append(mutant)
    chosen = []
    for mutants in folders.values():
        share = max(1, round(count * len(mutants) / len(candidates)))
        chosen += sorted(mutants, key=rank, reverse=True)[:share]
    return sorted(chosen, key=lambda mutant: (mutant.file, mutant.offset))


def equivalent_keys() -> set:
    """Keys of tests/equivalent_mutants.txt: paragraphs of "FILE: why", "- the line", "+ the broken line"."""
    found = re.findall(r"^(\S+): .*\n- (.*)\n\+ (.*)", (ROOT / "tests/equivalent_mutants.txt").read_text(), re.M)
    return {(file, before.strip(), after.strip()) for file, before, after in found}
