"""What a command of the runner says when it cannot do what was asked."""

from __future__ import annotations

import sys

from preprocessor.runner.errors import ExperimentError, RunnerError


def complain(command: str, error: RunnerError) -> int:
    """Print the error to standard error, findings with an excerpt of the file; give the exit status 2."""
    from preprocessor import reporters

    if isinstance(error, ExperimentError) and error.findings:
        sources = {error.findings[0].file: error.source}
        print(reporters.report(error.findings, "text", sources=sources), end="", file=sys.stderr)
        return 2
    print(f"mongo-tables {command}: {reporters.harmless(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"  {reporters.harmless(error.hint)}", file=sys.stderr)
    return 2
