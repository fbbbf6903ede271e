"""The executor, faked: it has the real settings, but another program."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
