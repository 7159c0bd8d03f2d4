"""Runs the programs for tests/golden, keeps what they print and write, and compares two such records."""
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import golden_inputs as inputs


def first_difference(old: bytes, new: bytes) -> str:
    """The first line that differs, from shortly before the difference on."""
    at = len(os.path.commonprefix([old, new]))
    start = max(old.rfind(b"\n", 0, at) + 1, at - 60)
    was, now = (text[start:at + 100].split(b"\n")[0] for text in (old, new))
    line = old.count(b"\n", 0, at) + 1
    return f"line {line}\n  was {was!r}\n  is  {now!r}"


def compare(old: Path, new: Path) -> dict[str, str]:
    """What differs, by file."""
    before, after = ({str(p.relative_to(top)): p.read_bytes() for p in top.rglob("*") if p.is_file()} for top in (old, new))
    differences = {name: "missing" for name in before.keys() - after} | {name: "new" for name in after.keys() - before}
    differences |= {name: "differs in " + first_difference(before[name], after[name])
                    for name in before.keys() & after if before[name] != after[name]}
    return dict(sorted(differences.items()))


class Recorder:
    """Runs the programs in folders under `work` and puts what they print and write under `record`."""

    def __init__(self, programs: Path, temporary: Path):
        self.programs, self.record, self.work = programs.resolve(), temporary / "record", temporary / "work"
        self.faults: list[str] = []  # what is wrong whatever was recorded before
        facts = self.output("doctor")
        self.instruction_set = re.search(r"^SIMD: .*$", facts, re.M)[0] + "\n"
        self.sources = re.search(r"^files: (.*)$", facts, re.M)[1]

    def output(self, *arguments: str) -> str:
        run = subprocess.run([self.programs / "phaselock", *arguments], capture_output=True, text=True)
        return run.stdout + run.stderr

    def normalised(self, text: bytes) -> bytes:
        """The one place where text is changed: it names the clone, the run's own folder, the memory of the machine and, in the
        provenance at the end of a result, commit, threads and time."""
        for folder, word in ((self.work, b"WORK/"), (self.sources, b"SOURCES/")):
            text = text.replace(f"{folder}/".encode(), word)
        text = re.sub(rb'^  "provenance": \{\n.*?^  \}\n', b"", text, flags=re.M | re.S)
        text = re.sub(rb"(of |at most )[0-9.]+ [KMGT]iB( allowed| are allowed)", rb"\1MEMORY\2", text)
        return re.sub(rb'("memory_limit_bytes": )[0-9.e+]+', rb"\1MEMORY", text)

    def put(self, name: str, text: bytes):
        file = self.record / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if file.suffix == ".npz" else self.normalised(text))

    def folder(self, name: str, files: dict[str, str]) -> Path:
        for file, text in files.items():
            path = self.work / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("latin-1"))  # as it stands, also what is no text
        return self.work / name

    def say(self, name: str, folder: Path, command: str, program: str = "phaselock", interrupt_at: str = ""):
        """Records exit code and both streams of a command; sends SIGINT as soon as the file interrupt_at is there, if given."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen([self.programs / program, *shlex.split(command)], cwd=folder, stdout=out, stderr=err)
            while interrupt_at and child.poll() is None:
                if (folder / interrupt_at).exists():
                    child.send_signal(signal.SIGINT)
                    break
                time.sleep(0.002)
            code = child.wait()
            out.seek(0), err.seek(0)
            heading = f"{program} {command}\nexit code {code}\n".encode()
            self.put(f"{name}.txt", heading + out.read() + b"--- standard error\n" + err.read())
        if interrupt_at and code != 130:
            self.faults.append(f"{name}: was not interrupted, its exit code is {code}")

    def keep(self, name: str, folder: Path):
        """Records the files of a run folder. A store is recorded by what is exported: SQLite promises nothing about its pages."""
        for file in folder.rglob("*"):
            if file.is_file() and file.suffix != ".sqlite":
                self.put(f"{name}/{file.relative_to(folder)}", file.read_bytes())

    def same(self, name: str, one: str, other: str):
        differences = compare(self.record / name / one, self.record / name / other)
        self.faults += [f"{name}: {one} and {other} are not the same: {file} {what}" for file, what in differences.items()]

    def run(self, name: str, scenario: str, text: str = ""):
        folder = self.folder(name, {"x.toml": text, "bias.json": inputs.BIAS})
        self.say(name, folder, f"run {scenario} --out OUT --quiet")
        self.keep(name, folder / "OUT")
        if (folder / "OUT/certificate.json").exists():
            self.say(f"{name}.checked", folder, "OUT/certificate.json", "phaselock-check")

    def verify(self):
        folder = self.folder("verify", {"x": ""})
        self.say("verify", folder, "verify all --out OUT --quiet")
        self.keep("verify", folder / "OUT")
        for certificate in sorted(folder.glob("OUT/certificates/*")):
            self.say(f"verify/checked/{certificate.stem}", folder, f"OUT/certificates/{certificate.name}", "phaselock-check")
            (folder / "damaged.json").write_text(certificate.read_text().replace('"gamma":1.0', '"gamma":0.5'))
        for file in ("damaged.json", "missing.json", ""):
            self.say(f"bad/phaselock-check {file}", folder, file, "phaselock-check")
        for name, arguments in inputs.SMALL_SUITES.items():
            self.say(f"verify/{name}", folder, f"verify {arguments} --quiet")

    def sweep(self, name: str, text: str):
        """A sweep at once, in shards that are merged, and interrupted and resumed: the same files."""
        name = f"sweeps/{name}"
        folder = self.folder(name, {"x.toml": text})
        self.say(f"{name}/dry-run", folder, "run x.toml --dry-run --json")
        self.say(f"{name}/whole", folder, "run x.toml --out whole --quiet")
        for shard in (0, 1):
            self.say(f"{name}/shard{shard}", folder, f"run x.toml --shard {shard}/2 --out shard{shard} --quiet")
        self.say(f"{name}/merged-half", folder, "merge merged shard1")
        self.say(f"{name}/merged", folder, "merge merged shard0 shard1")
        self.say(f"{name}/interrupted", folder, "run x.toml --out resumed --quiet", interrupt_at="resumed/sweep.sqlite")
        self.say(f"{name}/resumed", folder, "run x.toml --out resumed --quiet --resume")
        for end in ("shard0", "whole", "merged", "resumed"):
            self.say(f"{name}/{end}-exported", folder, f"export {end}")
            self.keep(f"{name}/{end}", folder / end)
        self.same(name, "whole", "resumed")
        self.same(name, "whole/export", "merged/export")  # its result.json names the scenario file in its own folder

    def flow(self, name: str, scenario: str):
        """A flow at once, and interrupted after its first checkpoint and resumed: the same files."""
        name = f"flows/{name}"
        folder = self.folder(name, {"x.toml": inputs.LONG_FLOW})
        command = f"run {scenario} --quiet --checkpoint-every 0 --out"
        self.say(f"{name}/whole", folder, f"{command} whole")
        self.say(f"{name}/interrupted", folder, f"{command} resumed", interrupt_at="resumed/checkpoint.bin")
        for again in ("resumed", "resumed-again"):
            self.say(f"{name}/{again}", folder, f"{command} resumed --resume")
        for end in ("whole", "resumed"):
            self.keep(f"{name}/{end}", folder / end)
        self.same(name, "whole", "resumed")

    def bad(self, name: str, command: str, scenario: str = "", case: str = ""):
        """Records the message, and what is left on disk."""
        files = {"x.toml": scenario, "c.json": case, "bias.json": inputs.BIAS, "w.npy": inputs.NPY, "full/a.txt": "x"}
        folder = self.folder(f"bad/{name}", files)
        self.say(f"bad/{name}", folder, command)
        self.put(f"bad/{name}.files", "".join(sorted(f"{p.relative_to(folder)}\n" for p in folder.rglob("*"))).encode())

    def everything(self):
        """All of it, two at a time; what takes long comes first."""
        self.put("instruction-set", self.instruction_set.encode())
        case = Path(__file__).resolve().parent.parent / "docs/case.json"
        folder = self.folder("about", {"case.json": case.read_text()})
        scenarios = re.findall(r"^\S+", self.output("list"), re.M)
        commands, claims = (re.findall(r"\w+", self.output(*wrong).split("one of ")[1]) for wrong in (["?"], ["explain", "?"]))
        overrides = {name: " ".join(f" --set {change}" for change in inputs.SHORTER.get(name, ())[1:]) for name in scenarios}
        about = {"list": "list", "evaluate": "evaluate case.json", "help/phaselock": "--help"}
        about |= {f"help/{command}": f"{command} --help" for command in commands}
        about |= {f"explain/{claim}": f"explain {claim}" for claim in claims}
        about |= {f"dry-run/{name}": f"run {name} --dry-run" for name in scenarios}
        jobs = [(self.verify,)]
        jobs += [(self.sweep, name, text) for name, text in inputs.SWEEPS.items()]
        jobs += [(self.flow, name, scenario + overrides.get(scenario, "")) for name, scenario in inputs.INTERRUPTED_FLOWS.items()]
        jobs += [(self.run, f"scenarios/{name}", name + overrides[name]) for name in scenarios]
        jobs += [(self.run, f"more/{name}", "x.toml", text) for name, text in inputs.MORE_RUNS.items()]
        jobs += [(self.bad, name, "run x.toml", text) for name, text in inputs.BAD_SCENARIOS.items()]
        jobs += [(self.bad, name, command, inputs.FLOW) for name, command in inputs.BAD_COMMANDS.items()]
        jobs += [(self.bad, f"case {name}", "evaluate c.json", "", case) for name, case in inputs.BAD_CASES.items()]
        jobs += [(self.say, name, folder, command) for name, command in about.items()]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda job: job[0](*job[1:]), jobs))  # the list brings up what a job throws
