"""What tests/golden runs."""

# Shipped scenarios that would take long: what is smaller, and the keys that make it so.
SHORTER = {
    "19-context-of-131072-tokens": ("smaller L and N", "model.blocks=1024", "model.vocabulary=4096"),
    "20-coverage-by-beta-and-vocabulary": ("fewer seeds", "sweep.seeds=500"),
    "21-a-million-seeds": ("fewer seeds", "sweep.seeds=50000"),
    "22-escape-times": ("fewer seeds", "sweep.seeds=2000"),
    "23-static-against-linear": ("fewer seeds", "sweep.seeds=5"),
    "24-coordination-repulsion": ("fewer seeds", "sweep.seeds=500"),
    "25-coordination-side-by-side": ("fewer seeds", "sweep.seeds=1000"),
    "26-coordination-large-vocabulary": ("fewer seeds", "sweep.seeds=1000"),
}
SMALL_SUITES = {"one-model": "theorem1 --set model.vocabulary=120 --set model.beta=8", "toy-json": "toy --json"}

MODEL = "[model]\nblocks = 4\npositions = 3\nheads = 1\nvocabulary = 12\ngamma = 1.0\nbeta = 1.0\n"
FLOW, SWEEP, SEARCH, DIAGRAM = (f'kind = "{kind}"\n{MODEL}' for kind in ("flow", "coverage", "search", "diagram"))
BIAS = '{"bias": [[[0.1, 0.2, -0.1]], [[0, 0.3, 0.1]]]}'

# Flows of some hundred steps, long enough to be interrupted on a busy machine. x.toml is LONG_FLOW.
LONG_FLOW = FLOW + "[flow]\nsave_at = [10.0, 1000.0]\nrtol = 1e-14\natol = 1e-18\n"
INTERRUPTED_FLOWS = {
    "linear": "x.toml --set contexts.count=192 --set model.heads=2 --set model.vocabulary=64",
    "static": "x.toml --set gates.class=static --set model.heads=8 --set model.positions=9 --set model.vocabulary=1000",
    "moments": "19-context-of-131072-tokens",
}

# Small runs of what no shipped scenario does.
MORE_RUNS = {
    "tied-gates": FLOW + '[gates]\nclass = "tied"\n[flow]\nuntil = 1000.0\nstop = "time"\n',
    "uniform-gates": FLOW + '[gates]\nclass = "uniform"\n[flow]\nuntil = 1000.0\nsave_at = [10, 20]\n',
    "independent-contexts": FLOW + '[contexts]\nsampling = "independent"\ncount = 20\nseed = 3\n',
    "given-start": FLOW + '[initial]\nfile = "bias.json"\n',
    "few-steps": FLOW + "[flow]\nmax_steps = 5\n",
    "search-perturbed": SEARCH + '[geometry]\nkind = "perturbed"\nepsilon = 0.01\n[contexts]\ncount = 3\n',
    "diagram-theorem2": DIAGRAM + '[diagram]\nwhat = "theorem2"\nx_range = [12, 100]\ny_range = [1, 8]\ncells = 2\nseeds = 5\n',
    "diagram-n-star": DIAGRAM + '[diagram]\nwhat = "n_star"\nx = "gamma"\nx_range = [0.1, 1]\ny_range = [1, 8]\ncells = 5\n',
}

# Sweeps with two axes and a row for each seed, in several chunks.
SWEEPS = {
    "static": SWEEP + '[sweep]\nseeds = 5000\nchunk = 500\nkeep = "seeds"\n[sweep.over]\n"model.beta" = [1.0, 8.0]\n'
                      '"model.heads" = { from = 1, to = 2, count = 2, scale = "log" }\n',
    "linear": SWEEP + '[gates]\nclass = "linear"\n[contexts]\ncount = 48\n[sweep]\nseeds = 48\nkeep = "seeds"\ncombine = "zip"\n'
                      'compare_static = true\n[sweep.over]\n"model.vocabulary" = [12, 24]\n"initial.radius" = [1.0, 100.0]\n',
}

# x.toml that is refused.
BAD_SCENARIOS = {
    "unknown key": FLOW.replace("blocks", "blocs"),
    "unknown section": FLOW + "[flwo]\nuntil = 1.0\n",
    "key of another kind": FLOW + "[toy]\nA = 2.0\n",
    "key of another geometry": FLOW + "[geometry]\nepsilon = 0.1\n",
    "unknown kind": FLOW.replace('"flow"', '"certificate"'),
    "kind missing": MODEL,
    "model key missing": FLOW.replace("beta = 1.0\n", ""),
    "not TOML": "kind = flow\n",
    "key twice": FLOW + "beta = 2.0\n",
    "text for a whole number": FLOW.replace("blocks = 4", 'blocks = "four"'),
    "fraction for a whole number": FLOW.replace("heads = 1", "heads = 1.5"),
    "number for a list": FLOW + "[flow]\nsave_at = 10.0\n",
    "unknown word": FLOW + '[gates]\nclass = "lienar"\n',
    "negative beta": FLOW.replace("beta = 1.0", "beta = -1"),
    "L S above N": FLOW.replace("= 12", "= 11"),
    "times out of order": FLOW + "[flow]\nsave_at = [5.0, 1.0]\n",
    "negative seed": FLOW + "[initial]\nseed = -1\n",
    "start given twice": FLOW + '[initial]\nfile = "bias.json"\nradius = 1.0\n',
    "start missing": FLOW + '[initial]\nfile = "no.json"\n',
    "start not JSON": FLOW + '[initial]\nfile = "w.npy"\n',
    "indefinite geometry": FLOW + '[geometry]\nkind = "perturbed"\nepsilon = 50.0\n',
    "embeddings missing": FLOW + '[geometry]\nkind = "embeddings"\nfile = "no.npy"\n',
    "embeddings damaged": FLOW + '[geometry]\nkind = "embeddings"\nfile = "w.npy"\n',
    "gates of no search": SEARCH + '[gates]\nclass = "linear"\n',
    "pattern beyond the block": f'kind = "stability"\n{MODEL}[stability]\npattern = [3]\n',
    "value twice on an axis": SWEEP + '[sweep.over]\n"model.beta" = [1.0, 2.0, 2.0]\n',
    "axis twice": SWEEP + '[sweep.over]\n"model.beta" = [1.0]\n"model.beta" = [2.0]\n',
    "axis of no key": SWEEP + '[sweep.over]\n"model.betta" = [1.0]\n',
    "axes of different lengths": SWEEP + '[sweep]\ncombine = "zip"\n[sweep.over]\n"model.beta" = [1.0, 2]\n"model.gamma" = [1.0]\n',
    "diagram axes alike": DIAGRAM + '[diagram]\nx = "beta"\nx_range = [1, 2]\ny_range = [1, 2]\n',
}

# Command lines that are refused; x.toml is FLOW, full/ a folder that is not empty.
BAD_COMMANDS = {
    "too much memory": "run x.toml --set model.vocabulary=1000000000 --set model.heads=1000000 --set model.beta=0.0001",
    "override of an unknown key": "run x.toml --set model.betta=1",
    "override without value": "run x.toml --set model.beta",
    "override of the wrong type": "run x.toml --set model.heads=many",
    "no thread": "run x.toml --threads 0",
    "unknown option": "run x.toml --ponder",
    "negative checkpoint interval": "run x.toml --checkpoint-every -1",
    "resume without a folder": "run x.toml --resume",
    "resume in a foreign folder": "run x.toml --out full --resume",
    "folder in the way": "run x.toml --out full",
    "file in the way": "run x.toml --out w.npy",
    "shard of a flow": "run x.toml --shard 0/2",
    "shard of none": "run x.toml --shard 2/2",
    "no command": "",
    "unknown command": "ponder",
    "no scenario": "run",
    "scenario missing": "run no.toml",
    "unknown claim": "explain fermat",
    "unknown suite": "verify theorem3",
    "verify with a key it does not take": "verify toy --set flow.until=1",
    "verify with L S above N": "verify toy --set model.vocabulary=5",
    "figures of no folder": "plot nowhere",
    "export of no sweep": "export full",
    "merge of nothing": "merge OUT",
    "merge of no sweep": "merge OUT full",
    "case missing": "evaluate no.json",
}

# c.json that evaluate refuses.
SIZES = '{"L": 2, "S": 2, "H": 1, "N": 4, "gamma": 1, "beta": 1, "kappa": 1'
TABLES = '"tables": [[[[0,0,0,0],[0,0,0,0]]],[[[0,0,0,0],[0,0,0,0]]]]'
BAD_CASES = {
    "not JSON": "{",
    "no object": "[1]",
    "key missing": f"{SIZES}, {TABLES}}}",
    "wrong type": '{"L": 2.5}',
    "token outside": f'{SIZES}, {TABLES}, "contexts": [[0,1,2,4]]}}',
    "token twice": f'{SIZES}, {TABLES}, "contexts": [[0,1,2,2]]}}',
    "wrong shape": f'{SIZES}, "tables": [0], "contexts": [[0,1,2,3]]}}',
}
NPY = "\x93NUMPY\x01\x00"  # w.npy, which ends within its header
