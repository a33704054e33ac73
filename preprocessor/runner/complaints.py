"""What a command of the runner says when it cannot do what was asked."""

from __future__ import annotations

import sys

from preprocessor.findings import reporters, usage
from preprocessor.runner.errors import ExperimentError, RunnerError


def complain(error: RunnerError) -> int:
    """Say the error as all commands say theirs, findings with an excerpt of the file; give the exit status 2."""
    if isinstance(error, ExperimentError) and error.findings:
        sources = {error.findings[0].file: error.source}
        print(reporters.report(error.findings, "text", sources=sources), end="", file=sys.stderr)
        return 2
    usage.print_error(error.message, error.hint)
    return 2
