"""Values between Python and a component, over the C API of `wasmtime`.

The `wasmtime` package converts by asking for the types again at each call, which costs a record
about a millisecond. Here the types are read once, through its public API, and made into a pair of
functions each: one that lifts a value out of the C API's memory and one that lowers one into it.
They know the C API's layout, which is why the package pins `wasmtime` to one version; importing
this module checks the sizes, and the examination of hosts (`tests/conformance`) sends values of every
shape through it, both ways.

Ownership: what `lower` returns owns memory of the C API until it is handed over or given to
`delete`; `lift` takes nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from struct import Struct
from typing import Any, NamedTuple

from wasmtime import _ffi as ffi
from wasmtime.component import (
    Bool,
    EnumType,
    ListType,
    OptionType,
    RecordType,
    ResultType,
    S64,
    String,
    U8,
    U32,
    U64,
    ValType,
    VariantType,
)

from ..contract import Case

SIZE = 32
"""Bytes of a value: its kind, and a union of three words."""

_NAME = 16
_ENTRY = _NAME + SIZE

if (
    ctypes.sizeof(ffi.wasmtime_component_val_t) != SIZE
    or ctypes.sizeof(ffi.wasmtime_component_valrecord_entry_t) != _ENTRY
):
    raise ImportError("this wasmtime lays its values out in another way; install the pinned one")

_BOOL = ffi.WASMTIME_COMPONENT_BOOL.value
_STRING = ffi.WASMTIME_COMPONENT_STRING.value
_LIST = ffi.WASMTIME_COMPONENT_LIST.value
_RECORD = ffi.WASMTIME_COMPONENT_RECORD.value
_VARIANT = ffi.WASMTIME_COMPONENT_VARIANT.value
_ENUM = ffi.WASMTIME_COMPONENT_ENUM.value
_OPTION = ffi.WASMTIME_COMPONENT_OPTION.value
_RESULT = ffi.WASMTIME_COMPONENT_RESULT.value

_word = Struct("=8xQ16x")
_pair = Struct("=8xQQ8x")
_triple = Struct("=8xQQQ")
_kind_word = Struct("=B7xQ16x")
_kind_pair = Struct("=B7xQQ8x")
_kind_triple = Struct("=B7xQQQ")
_vector = Struct("=QQ")

Lift = Callable[[bytes, int], Any]
Lower = Callable[[Any], bytes]


class Codec(NamedTuple):
    """How values of one type cross. `lift` reads the value that stands at a place in some memory;
    `lower` makes one, as the bytes of its own place."""

    lift: Lift
    lower: Lower


def codec(type_: ValType, records: Mapping[tuple[str, ...], type]) -> Codec:
    """The codec of a type; records become the class that has their fields.

    Raises `TypeError` for a type that the contract has no use for, or a record it does not know.
    """
    match type_:
        case Bool():
            return Codec(lambda at, o: _word.unpack_from(at, o)[0] & 1 == 1, _scalar(_BOOL))
        case U8() | U32() | U64() | S64():
            return _number(type_)
        case String():
            return Codec(_lift_string, _lower_string)
        case EnumType():
            return _enum(type_)
        case ListType() if isinstance(type_.element, U8):
            return Codec(_lift_bytes, _lower_bytes)
        case ListType():
            return _list(codec(type_.element, records))
        case OptionType():
            return _option(type_, records)
        case ResultType():
            return _result(_maybe(type_.ok, records), _maybe(type_.err, records))
        case RecordType():
            return _record(type_, records)
        case VariantType():
            return _variant({tag: _maybe(case, records) for tag, case in type_.cases})
    raise TypeError(f"the contract has no {type(type_).__name__}")


def _maybe(type_: ValType | None, records: Mapping[tuple[str, ...], type]) -> Codec | None:
    return None if type_ is None else codec(type_, records)


_Name = ctypes.c_char * _NAME
_Value = ctypes.c_char * SIZE

# Small functions, for which letting go of Python's lock would cost more than they do.
_small = ctypes.PyDLL(str(ffi.filename))


def function(name: str, result: Any, *arguments: Any, library: Any = ffi.dll) -> Any:
    """A function of the C API; an object of its own, so that no other user's types change."""
    found = library[name]
    found.restype, found.argtypes = result, arguments
    return found


def _function(name: str, result: Any, *arguments: Any) -> Any:
    return function(name, result, *arguments, library=_small)


_new_string = _function(
    "wasm_byte_vec_new", None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
)
_new_list = _function(
    "wasmtime_component_vallist_new_uninit", None, ctypes.c_void_p, ctypes.c_size_t
)
_new_record = _function(
    "wasmtime_component_valrecord_new_uninit", None, ctypes.c_void_p, ctypes.c_size_t
)
_clone = _function("wasmtime_component_val_clone", None, ctypes.c_void_p, ctypes.c_void_p)
_new_box = _function("wasmtime_component_val_new", ctypes.c_void_p, ctypes.c_void_p)
_delete = _function("wasmtime_component_val_delete", None, ctypes.c_void_p)


def _boxed(value: bytes) -> int:
    """Where a value stands that the C API owns. It takes the value out of the place it was given in,
    so that this is a copy."""
    box: int = _new_box(ctypes.create_string_buffer(value, SIZE))
    return box


def delete(address: int, values: int) -> None:
    """Gives back what so many values own that stand at this address."""
    for number in range(values):
        _delete(address + number * SIZE)


def _scalar(kind: int) -> Lower:
    return lambda value: _kind_word.pack(kind, value)


def _number(type_: ValType) -> Codec:
    if isinstance(type_, S64):
        lifted, kind = Struct("=8xq16x"), ffi.WASMTIME_COMPONENT_S64.value
        lowered = Struct("=B7xq16x")
        return Codec(
            lambda at, o: lifted.unpack_from(at, o)[0], lambda value: lowered.pack(kind, value)
        )
    match type_:
        case U8():
            mask, kind = 0xFF, ffi.WASMTIME_COMPONENT_U8.value
        case U32():
            mask, kind = 0xFFFF_FFFF, ffi.WASMTIME_COMPONENT_U32.value
        case _:
            mask, kind = 0xFFFF_FFFF_FFFF_FFFF, ffi.WASMTIME_COMPONENT_U64.value

    def lower(value: int) -> bytes:
        if not 0 <= value <= mask:
            raise OverflowError(f"{value} is no number that the contract has here")
        return _kind_word.pack(kind, value)

    return Codec(lambda at, o: _word.unpack_from(at, o)[0] & mask, lower)


def _text(at: bytes, o: int) -> str:
    size, data = _pair.unpack_from(at, o)
    return ctypes.string_at(data, size).decode() if size else ""


def _name(text: str) -> bytes:
    """The bytes of a name that the C API owns."""
    encoded, out = text.encode(), _Name()
    _new_string(out, len(encoded), encoded)
    return out.raw


def _lift_string(at: bytes, o: int) -> str:
    return _text(at, o)


def _lower_string(value: str) -> bytes:
    return _kind_pair.pack(_STRING, *_vector.unpack(_name(value)))


def _enum(type_: EnumType) -> Codec:
    names = frozenset(type_.names)

    def lower(value: str) -> bytes:
        if value not in names:
            raise ValueError(f"{value!r} is none of {sorted(names)}")
        return _kind_pair.pack(_ENUM, *_vector.unpack(_name(value)))

    return Codec(_text, lower)


def _filled(new: Any, count: int, content: bytes) -> tuple[int, int]:
    """A vector of the C API with this content: its length and where it is."""
    out = _Name()
    new(out, count)
    size, data = _vector.unpack(out.raw)
    if content:
        ctypes.memmove(data, content, len(content))
    return size, data


def _list(element: Codec) -> Codec:
    lift_one, lower_one = element

    def lift(at: bytes, o: int) -> list[Any]:
        size, data = _pair.unpack_from(at, o)
        content = ctypes.string_at(data, size * SIZE) if size else b""
        return [lift_one(content, place) for place in range(0, size * SIZE, SIZE)]

    def lower(value: Sequence[Any]) -> bytes:
        content = b"".join([lower_one(one) for one in value])
        return _kind_pair.pack(_LIST, *_filled(_new_list, len(value), content))

    return Codec(lift, lower)


_BYTES = [_kind_word.pack(ffi.WASMTIME_COMPONENT_U8.value, byte) for byte in range(256)]


def _lift_bytes(at: bytes, o: int) -> bytes:
    size, data = _pair.unpack_from(at, o)
    # The first byte of each value's union.
    return ctypes.string_at(data, size * SIZE)[8::SIZE] if size else b""


def _lower_bytes(value: bytes) -> bytes:
    content = b"".join([_BYTES[byte] for byte in value])
    return _kind_pair.pack(_LIST, *_filled(_new_list, len(value), content))


def _option(type_: OptionType, records: Mapping[tuple[str, ...], type]) -> Codec:
    if isinstance(type_.payload, OptionType):
        raise TypeError("the contract has no option of an option")
    lift_some, lower_some = codec(type_.payload, records)
    none = _kind_word.pack(_OPTION, 0)

    def lift(at: bytes, o: int) -> Any:
        (some,) = _word.unpack_from(at, o)
        return lift_some(ctypes.string_at(some, SIZE), 0) if some else None

    def lower(value: Any) -> bytes:
        return none if value is None else _kind_word.pack(_OPTION, _boxed(lower_some(value)))

    return Codec(lift, lower)


def _lift_case(of: Codec | None, data: int) -> Any:
    return None if of is None else of.lift(ctypes.string_at(data, SIZE), 0)


def _lower_case(of: Codec | None, value: Any) -> int:
    if of is None:
        return 0
    return _boxed(of.lower(value))


def _result(ok: Codec | None, err: Codec | None) -> Codec:
    def lift(at: bytes, o: int) -> Case:
        is_ok, data, _ = _triple.unpack_from(at, o)
        # The discriminant is one byte of its word.
        return Case("ok", _lift_case(ok, data)) if is_ok & 1 else Case("err", _lift_case(err, data))

    def lower(case: Case) -> bytes:
        is_ok = case.tag == "ok"
        return _kind_triple.pack(_RESULT, is_ok, _lower_case(ok if is_ok else err, case.value), 0)

    return Codec(lift, lower)


def _variant(cases: dict[str, Codec | None]) -> Codec:
    def lift(at: bytes, o: int) -> Case:
        tag = _text(at, o)
        _, _, data = _triple.unpack_from(at, o)
        return Case(tag, _lift_case(cases[tag], data))

    def lower(case: Case) -> bytes:
        data = _lower_case(cases[case.tag], case.value)
        return _kind_triple.pack(_VARIANT, *_vector.unpack(_name(case.tag)), data)

    return Codec(lift, lower)


def _record(type_: RecordType, records: Mapping[tuple[str, ...], type]) -> Codec:
    fields = type_.fields
    names = tuple(name.replace("-", "_") for name, _ in fields)
    made = records.get(names)
    if made is None:
        raise TypeError(f"the contract has no record with the fields {', '.join(names)}")
    codecs = [codec(field, records) for _, field in fields]
    lifts = [(one.lift, place * _ENTRY + _NAME) for place, one in enumerate(codecs)]
    lowers = [(one.lower, place * _ENTRY + _NAME) for place, one in enumerate(codecs)]
    size = len(fields) * _ENTRY
    new = made._make  # type: ignore[attr-defined]
    # Records name their fields, so that each is a copy of one that has the names.
    empty = b"".join(_name(name) + _kind_word.pack(_BOOL, 0) for name, _ in fields)
    template = ctypes.create_string_buffer(
        _kind_pair.pack(_RECORD, *_filled(_new_record, len(fields), empty)), SIZE
    )

    def lift(at: bytes, o: int) -> Any:
        _, data = _pair.unpack_from(at, o)
        content = ctypes.string_at(data, size)
        return new([lift_one(content, place) for lift_one, place in lifts])

    def lower(value: Sequence[Any]) -> bytes:
        lowered = [lower_one(one) for (lower_one, _), one in zip(lowers, value, strict=True)]
        out = _Value()
        _clone(template, out)
        made_of = out.raw
        _, data = _pair.unpack(made_of)
        for (_, place), one in zip(lowers, lowered, strict=True):
            ctypes.memmove(data + place, one, SIZE)
        return made_of

    return Codec(lift, lower)
