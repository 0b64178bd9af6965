"""New kernels, failure models and surrogates get names; what cannot have one is told so (docs/howto/extending.md)."""

from dataclasses import replace

import pytest

import surefoot
from surefoot.errors import InvalidInputError
from surefoot.failures.registry import FAILURE_MODELS
from surefoot.gp.kernels import KERNELS, SE
from surefoot.gp.registry import SURROGATES
from surefoot.optimize.settings import Settings

THINGS = [
    (surefoot.register_kernel, KERNELS, SE, "kernel"),
    (surefoot.register_failure_model, FAILURE_MODELS, FAILURE_MODELS["ep"], "failures"),
    (surefoot.register_surrogate, SURROGATES, SURROGATES["exact"], "surrogate"),
]
each = pytest.mark.parametrize(("register", "registry", "known", "setting"), THINGS, ids=[t[3] for t in THINGS])


@each
def test_a_new_thing_is_known_to_the_settings(register, registry, known, setting) -> None:
    register(replace(known, name="new"))
    try:
        assert getattr(Settings.of(**{setting: "new"}), setting) == "new"
    finally:
        del registry["new"]


@each
@pytest.mark.parametrize("name", ["taken", "auto", "none", "", " ", 3])
def test_a_name_that_is_taken_or_none_is_refused(name, register, registry, known, setting) -> None:
    before = dict(registry)
    with pytest.raises(InvalidInputError, match=r"expected.*got.*try"):
        register(replace(known, name=known.name if name == "taken" else name))
    assert registry == before


@each
@pytest.mark.parametrize("wrong", [None, "se", 3, object()])
def test_what_is_no_such_thing_is_refused(wrong, register, registry, known, setting) -> None:
    with pytest.raises(InvalidInputError, match=r"expected a \w+ with a name; got.*try"):
        register(wrong)


@each
def test_fields_that_are_no_functions_are_refused(register, registry, known, setting) -> None:
    field = {"kernel": "value", "failures": "fit", "surrogate": "condition"}[setting]
    with pytest.raises(InvalidInputError, match=rf"expected .*{field}.* as functions; got {field}=None; try"):
        register(replace(known, **{"name": "new", field: None}))


def test_a_failure_model_cannot_be_called_like_none() -> None:
    with pytest.raises(InvalidInputError, match="'ignore', which is taken"):
        surefoot.register_failure_model(replace(FAILURE_MODELS["ep"], name="ignore"))


def test_a_new_kernel_does_not_join_the_contest() -> None:
    surefoot.register_kernel(replace(SE, name="new"))
    try:
        assert "new" not in {kernel.name for kernel in Settings().spec.kernels}
    finally:
        del KERNELS["new"]
