"""Validates what the exports write against the YANG models of switches, with libyang.

usage: python3 yang.py MODELS, where MODELS has the folders openconfig, ocp-standin and sonic. Standard input has one
JSON document per line: {"model": "sonic" or "ocp", "body": the configuration}. Every rejected document is one line of
the output; the last line counts the documents. Exit code 77: the package is missing.
"""

import json
import os
import shutil
import sys
import tempfile

try:
    import oopt_gnpy_libyang as ly
except ImportError:
    sys.exit(77)

models = sys.argv[1]


def context(folders, modules):
    """A context that knows the modules of some folders; the files are copied because it searches one folder."""
    place = tempfile.mkdtemp()
    for folder in folders:
        for name in os.listdir(os.path.join(models, folder)):
            if name.endswith(".yang"):
                shutil.copy(os.path.join(models, folder, name), place)
    made = ly.Context(place, ly.ContextOptions.NoYangLibrary)
    for module in modules:
        made.load_module(module)
    return made


contexts = {
    "sonic": context(["sonic"], ["sonic-ocs"]),
    "ocp": context(
        ["openconfig", "ocp-standin"],
        [
            "openconfig-platform-types",
            "openconfig-platform",
            "ocp-ocs-optical-switch-port",
            "ocp-ocs-optical-switch",
            "ocp-ocs-optical-switch-connections",
        ],
    ),
}

count = 0
for line in sys.stdin:
    document = json.loads(line)
    count += 1
    try:
        contexts[document["model"]].parse_data(
            json.dumps(document["body"]),
            ly.DataFormat.JSON,
            ly.ParseOptions.Strict | ly.ParseOptions.NoState,
            ly.ValidationOptions.NoState | ly.ValidationOptions.Present,
        )
    except ly.Error as error:
        print(document["model"], "rejects", json.dumps(document["body"]), error)
print(count, "documents")
