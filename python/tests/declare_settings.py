"""The text of `xoff/declared_settings.py`: settings as Python types, from the schema."""

import json
import keyword
import re
import textwrap
from collections import defaultdict

from xoff import engine, settings

HEADER = '''"""The settings of scenarios as types, as the engine declares them.

`make declared` writes this module from the schema. Sections and entries of lists are dicts with
these keys. `Settings` has the keyword arguments of `xoff.Scenario` and of `with_`: every section,
and every name that is the last part of a setting's path.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypedDict

'''
WIDTH = 100
NUMBERS = {"integer": "int", "number": "float", "boolean": "bool"}


def module():
    """Return the text of the module."""
    top = settings.top_level()
    presets = "".join(f"    {json.dumps(name)},\n" for name, _ in engine.presets())
    parts = [
        HEADER,
        f"Preset = Literal[\n{presets}]\n",
        '"""The name of a built-in scheme."""\n\n\n',
    ]
    parts += [_class(camel(name), spec) for name, spec in top.items() if settings.is_section(spec)]
    for name, spec in top.items():
        if settings.is_list(spec):
            kinds = settings.kinds(spec)
            names = {kind: _entry_name(kind, name, top) for kind in kinds}
            parts += [_entry(kind, names[kind], entry) for kind, entry in kinds.items()]
            parts.append(f"{camel(name)}: TypeAlias = {_union(names.values())}\n")
            parts.append(f'"""An entry of `{name}`."""\n\n\n')
    parts.append(_arguments(top))
    return "".join(parts).rstrip("\n") + "\n"


def camel(name):
    """Return a name as that of a class."""
    return "".join(part.capitalize() for part in name.replace("-", "_").split("_"))


def type_of(name, spec):
    """Return the type of a value."""
    if name == "scheme":
        return "Preset"
    if "enum" in spec:
        return _literal(spec["enum"])
    if settings.is_plain_text(spec):
        return "str | int | Sequence[int]"
    return NUMBERS.get(spec["type"], "str")


def _class(name, spec, base="TypedDict"):
    lines = [f"class {name}({base}, total=False):", *_doc(spec["description"], 4), ""]
    for key, own in spec["properties"].items():
        if key not in ("class", "kind") or base == "TypedDict":
            lines += [_line(key, [type_of(key, own)]), *_doc(own["description"], 4)]
    return "\n".join(lines) + "\n\n\n"


def _entry_name(kind, of_list, top):
    """Return the class of an entry: its kind, with the list's name if a section has the same."""
    name = camel(kind)
    taken = {camel(name) for name, spec in top.items() if settings.is_section(spec)}
    return name + camel(of_list) if name in taken else name


def _entry(kind, name, spec):
    """Return an entry of a list: its kind is required, and its class has a keyword's name."""
    base = f"_{name}Kind"
    required = f"class {base}(TypedDict):\n    kind: {_literal([kind])}\n\n\n"
    if "class" in spec["properties"]:
        named = f"_{name}Class"
        required += f'{named} = TypedDict("{named}", {{"class": str}}, total=False)\n\n\n'
        base = f"{base}, {named}"
    return required + _class(name, spec, base)


def _arguments(top):
    """Return the keyword arguments that change a scenario."""
    lines = ["class Settings(TypedDict, total=False):"]
    lines += _doc("The settings of a scenario: sections, and settings by the last part alone.", 4)
    lines.append("")
    for name, spec in top.items():
        if settings.is_list(spec):
            kind, doc = f"Sequence[{camel(name)}]", f"All entries of [[{name}]]."
        elif settings.is_section(spec):
            kind, doc = camel(name), spec["description"]
        else:
            kind, doc = type_of(name, spec), spec["description"]
        lines += [_line(name, [kind]), *_doc(doc, 4)]
    for name, found in sorted(_last_parts(top).items()):
        if name not in top and not keyword.iskeyword(name):
            kinds = [type_of(name, spec) for _, spec in found]
            docs = [f"{place}: {spec['description']}" for place, spec in found]
            doc = (
                docs[0] if len(docs) == 1 else "In " + ", ".join(place for place, _ in found) + "."
            )
            lines += [_line(name, kinds), *_doc(doc, 4)]
    return "\n".join(lines) + "\n"


def _last_parts(top):
    """Return the places of every last part of a path: (section or kind of entry, spec)."""
    found = defaultdict(list)
    for name, spec in top.items():
        if settings.is_section(spec):
            for key, own in spec["properties"].items():
                found[key].append((name, own))
        elif settings.is_list(spec):
            for kind, entry in settings.kinds(spec).items():
                for key, own in entry["properties"].items():
                    if key != "kind":
                        found[key].append((f"{name} {kind}", own))
    return found


def _line(name, kinds):
    """Return the declaration of a key whose value has one of these types."""
    parts = dict.fromkeys(part for kind in kinds for part in kind.split(" | "))
    words = [part for part in parts if part.startswith("Literal")]
    if words:
        own = [word for part in words for word in json.loads(part.removeprefix("Literal"))]
        others = [part for part in parts if part not in words]
        whole = f"    {name}: {' | '.join([*others, _literal(own)])}"
        if len(whole) <= WIDTH:
            return whole
        lines = "".join(f"        {json.dumps(word)},\n" for word in dict.fromkeys(own))
        return f"    {name}: {' | '.join([*others, 'Literal['])}\n{lines}    ]"
    return f"    {name}: {' | '.join(parts)}"


def _literal(words):
    return f"Literal[{', '.join(json.dumps(word) for word in dict.fromkeys(words))}]"


def _union(names):
    """Return a union of types, on one line if that fits."""
    names = list(names)
    whole = " | ".join(names)
    if len(whole) + 24 <= WIDTH:
        return whole
    first, *others = names
    return "(\n" + f"    {first}\n" + "".join(f"    | {name}\n" for name in others) + ")"


def _doc(text, indent):
    """Return a documentation string. What the type says is left out."""
    text = re.sub(r"Expects (one of [^.]*|true or false|a quoted string)\. ", "", text)
    text = re.sub(r"Expects a whole number( from 0 to \d{6,})?\. ", "", text)
    text = text.replace("\\", "\\\\")
    lines = textwrap.wrap(f'"""{text}', WIDTH - indent, break_long_words=False)
    if len(lines) == 1 and len(lines[0]) + indent + 3 <= WIDTH and not text.endswith('"'):
        return [" " * indent + lines[0] + '"""']
    return [" " * indent + line for line in [*lines, '"""']]
