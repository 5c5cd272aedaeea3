"""`python -m benchmarks`: run, table, plot, compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from benchmarks.results import ResultFolder
from orchestra.cli.terminal import as_json as json_text
from orchestra.cli.terminal import print_answer, say_error
from orchestra.errors import InputInvalid, OrchestraError

FAILED, USAGE = 1, 2
folder_argument = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False, exists=True))


class Benchmarks(click.Group):
    """Turns our errors into two lines and an exit code."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except OrchestraError as error:
            cause = f" ({error.cause})" if error.cause else ""
            say_error(f"{error.code}: {error.what}{cause}", error.suggestion)
            ctx.exit(USAGE if isinstance(error, InputInvalid) else FAILED)


@click.group(cls=Benchmarks, context_settings={"max_content_width": 100})
def main() -> None:
    """Measure ways to answer questions over long documents, side by side.

    \b
    python -m benchmarks run --dataset report --strategies direct,fanout,bm25,auto --out results/report
    python -m benchmarks run --dataset financebench --data ~/financebench --strategies auto,bm25 --budget auto \\
        --out results/financebench
    """


@main.command()
@click.option("--dataset", required=True, metavar="NAME", help="report, financebench, or the path of a .jsonl file.")
@click.option("--data", "data_folder", metavar="DIR", type=click.Path(path_type=Path), help="Where its files are.")
@click.option("--strategies", required=True, metavar="A,B,...", help="Such as direct,fanout,bm25@4000,auto.")
@click.option("--model", default="builtin:extractive", show_default=True, metavar="NAME", help="Who answers.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="So many questions only, drawn by --seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="For the sample and the intervals.")
@click.option("--out", "out_folder", metavar="DIR", type=click.Path(path_type=Path), help="Where results go.")
@click.option(
    "--budget",
    default="",
    metavar="TOKENS",
    help="What bm25 may send: a number, or a strategy (auto) whose tokens it gets, question by question.",
)
@click.option("--subtasks", type=click.IntRange(1, 8), default=5, show_default=True, help="Of a naive fan-out.")
@click.option("--store", "store_path", metavar="FILE", type=click.Path(path_type=Path), help="Keep replies there.")
@click.option("--judge", "judge_spec", default="", metavar="NAME", help="A model that judges the answers.")
@click.option("--price-as", default="", metavar="NAME", help="Whose list prices count.")
@click.option("--workers", type=click.IntRange(1, 32), default=1, show_default=True, help="Questions at once.")
@click.option("--dry-run", "is_dry", is_flag=True, help="Say what it would cost; send nothing.")
@click.pass_context
def run(context: click.Context, **options: Any) -> None:
    """Answer every question by every strategy. Stopped, it goes on where it was when started again."""
    from benchmarks.session import Options, run_session

    context.exit(run_session(Options(**options)))


@main.command()
@folder_argument
@click.option("--json", "is_json", is_flag=True, help="Print JSON.")
def table(folder: Path, is_json: bool) -> None:
    """Print the table of a finished or unfinished run."""
    from benchmarks.session import tabulated

    text, figures = tabulated(ResultFolder(folder))
    print_answer(json_text(figures) if is_json else text, end="\n" if is_json else "")


@main.command()
@folder_argument
def plot(folder: Path) -> None:
    """Draw plot.svg and plot.png anew."""
    from benchmarks.plot import plot as draw
    from benchmarks.summary import summarise

    results = ResultFolder(folder)
    settings = results.settings()
    for path in draw(settings, summarise(settings, results.outcomes()), folder):
        print_answer(str(path))


@main.command()
@folder_argument
@click.option("--base", default="direct", show_default=True, metavar="STRATEGY", help="What the others stand beside.")
def compare(folder: Path, base: str) -> None:
    """Print each strategy beside one of them, question by question."""
    from benchmarks.compare import comparison

    results = ResultFolder(folder)
    print_answer(comparison(results.settings(), results.outcomes(), base), end="")
