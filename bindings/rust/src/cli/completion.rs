//! `leafid completion`: scripts of shells, which ask this program what can follow the words that were written.

use super::streams::{Outcome, Streams};
use clap::{Arg, Args, Command, ValueEnum};

/// Print the completion script of a shell
///
/// For bash: source <(leafid completion bash), for example in ~/.bashrc. For zsh: into a file _leafid of a directory of
/// $fpath. For fish: into ~/.config/fish/completions/leafid.fish.
#[derive(Args)]
pub(super) struct CompletionArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: CompletionShell,
    /// The words of a command line as far as it is written, from the program's name on: what can follow is printed
    #[arg(value_name = "WORD", last = true, hide = true)]
    words: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum CompletionShell {
    Bash,
    Zsh,
    Fish,
}

// Where nothing is known, as of the value of an option, files are offered.
const BASH: &str = r#"_leafid() {
  COMPREPLY=($("${COMP_WORDS[0]}" completion bash -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null))
}
complete -F _leafid -o bashdefault -o default leafid
"#;
const ZSH: &str = r#"#compdef leafid
_leafid() {
  local -a offered
  offered=("${(@f)$("$words[1]" completion zsh -- "${(@)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$offered" ]]; then _describe leafid offered; else _files; fi
}
if [[ "$funcstack[1]" = _leafid ]]; then _leafid; else compdef _leafid leafid; fi
"#;
const FISH: &str = r#"function __leafid
    set -l words (commandline -opc)
    set -l offered ($words[1] completion fish -- $words (commandline -ct) 2>/dev/null)
    if set -q offered[1]
        printf '%s\n' $offered
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c leafid -f -a '(__leafid)'
"#;

pub(super) fn completion(
    arguments: &CompletionArguments,
    mut declared: Command,
    streams: &mut Streams<'_>,
) -> Outcome {
    let (script, between) = match arguments.shell {
        CompletionShell::Bash => (BASH, None),
        CompletionShell::Zsh => (ZSH, Some(':')),
        CompletionShell::Fish => (FISH, Some('\t')),
    };
    if arguments.words.is_empty() {
        streams.stdout.write_all(script.as_bytes())?;
    }
    declared.build();
    for (word, what) in offers(&declared, &arguments.words) {
        match between {
            Some(between) => writeln!(streams.stdout, "{word}{between}{what}")?,
            None => writeln!(streams.stdout, "{word}")?,
        }
    }
    Ok(true)
}

/// What can stand in the place of the last of these words, each with what it is.
fn offers(declared: &Command, words: &[String]) -> Vec<(String, String)> {
    let Some((written, before)) = words.split_last() else {
        return Vec::new();
    };
    let (mut command, mut is_value) = (declared, false);
    for word in before.iter().skip(1) {
        if is_value {
            is_value = false;
        } else if let Some(below) = command.find_subcommand(word) {
            command = below;
        } else {
            let option = command.get_arguments().find(|arg| forms(arg).contains(word));
            is_value = option.is_some_and(|arg| arg.get_action().takes_values());
        }
    }
    if is_value {
        return Vec::new();
    }
    let mut found = Vec::new();
    for below in command.get_subcommands() {
        found.push((below.get_name().to_owned(), below.get_about().map(ToString::to_string)));
    }
    for arg in command.get_arguments() {
        let values = arg.get_possible_values();
        let values = values.iter().filter(|_| arg.is_positional()).map(|value| value.get_name().to_owned());
        let help = || arg.get_help().map(ToString::to_string);
        found.extend(forms(arg).into_iter().chain(values).map(|word| (word, help())));
    }
    found.retain(|(word, _)| word.starts_with(written));
    found.into_iter().map(|(word, what)| (word, what.unwrap_or_default())).collect()
}

/// How an option is written; nothing, if it is none.
fn forms(arg: &Arg) -> Vec<String> {
    let short = arg.get_short().map(|short| format!("-{short}"));
    short.into_iter().chain(arg.get_long().map(|long| format!("--{long}"))).collect()
}
