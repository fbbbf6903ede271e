"""`copycat completion`: what makes a shell complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script for completion in your shell.

    Commands, options, connectors and plugins are completed. Names come from the cluster of --url or
    COPYCAT_URL.

    \b
    Add one of these to your shell's start-up file:
      eval "$(copycat completion bash)"                                        ~/.bashrc
      eval "$(copycat completion zsh)"                                         ~/.zshrc
      copycat completion fish | source                                         ~/.config/fish/config.fish
    """
    root = ctx.find_root()
    program = root.info_name or "copycat"
    script = SHELLS[shell](root.command, {}, program, f"_{program.upper()}_COMPLETE")
    click.echo(script.source())
