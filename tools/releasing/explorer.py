# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links that open a program in Compiler Explorer. They are made offline: a link holds the whole state of the page, the
ClientState of Compiler Explorer's API documentation, as JSON in base64 behind /clientstate/. The programs are in
explorer/; their #include <isobit.hpp> becomes the address at which the one header is published.
"""
import base64
import json
import pathlib
import urllib.parse

PREFIX = "https://godbolt.org/clientstate/"
PROGRAMS = pathlib.Path(__file__).resolve().parent / "explorer"
PLACE = "#include <isobit.hpp>"

# file, what it shows, language, compilers as (id, options, whether the program is run)
PAGES = [
    ("same_bits.cpp", "one kernel on the CPU, five block widths, the same bits", "c++",
     [("g132", "-std=c++20 -O2 -pthread", True), ("clang1701", "-std=c++20 -Ofast -pthread", True)]),
    ("fast_math.cpp", "a compensated sum under -Ofast: isobit's and the textbook's", "c++",
     [("g132", "-std=c++20 -Ofast", True)]),
    ("kernel.cu", "what nvcc makes of a kernel", "cuda",
     [("nvcc125u1", "-std=c++20 -arch=sm_90 --use_fast_math", False)]),
]


def state(program, url, language, compilers):
    source = (PROGRAMS / program).read_text()
    if source.count(PLACE) != 1:
        raise ValueError(f"{program} needs one line {PLACE}")
    return {"sessions": [{
        "id": 1,
        "language": language,
        "source": source.replace(PLACE, f"#include <{url}>"),
        "compilers": [{"id": i, "options": options, "libs": []} for i, options, run in compilers if not run],
        "executors": [{"compiler": {"id": i, "options": options, "libs": []}} for i, options, run in compilers if run],
    }]}


def encode(client_state):
    text = json.dumps(client_state, separators=(",", ":")).encode()
    return PREFIX + urllib.parse.quote(base64.b64encode(text).decode(), safe="")


def decode(link):
    if not link.startswith(PREFIX):
        raise ValueError(f"not a link to a state: {link[:60]}")
    text = urllib.parse.unquote(link[len(PREFIX):])
    return json.loads(base64.b64decode(text, validate=True))


def page(url):
    """Markdown with a link for each program."""
    lines = ["# isobit in Compiler Explorer", "", f"The links include <{url}>.", ""]
    for program, shows, language, compilers in PAGES:
        link = encode(state(program, url, language, compilers))
        lines.append(f"- [{program}]({link}): {shows} ({', '.join(f'{i} {o}' for i, o, _ in compilers)})")
    return "\n".join(lines) + "\n"
