extension Syntaxes {
  /// The shells with completions.
  package static let shells = ["bash", "zsh", "fish"]

  /// Returns the completion script for a shell; `nil` for an unknown shell.
  ///
  /// The script asks the program for the words, which knows the commands and asks the daemon of the
  /// line. The program prints only words that a shell does not expand.
  package func completions(for shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    default: nil
    }
  }

  private var bash: String {
    """
    # bash completion for \(program); for example in ~/.bashrc: . <(\(program) completions bash)
    _\(program)() {
      local line=${COMP_LINE:0:COMP_POINT} part=${COMP_WORDS[COMP_CWORD]} word name doc
      word=${line##*[[:space:]]}
      # bash splits words at = and : and replaces only the part behind.
      [[ $part == [=:] || $part == := ]] && part=
      COMPREPLY=()
      while IFS=$'\\t' read -r name doc; do
        [[ $name == "$word"* ]] && COMPREPLY+=("${name#"${word%"$part"}"}")
      done < <(\(program) completions --line "$line" 2>/dev/null)
      [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
      return 0
    }
    complete -o default -F _\(program) \(program)
    """
  }

  private var zsh: String {
    """
    #compdef \(program)
    # zsh completion for \(program); for example in ~/.zshrc: . <(\(program) completions zsh)
    _\(program)() {
      local -a whole open
      local name doc
      while IFS=$'\\t' read -r name doc; do
        if [[ $name == *= ]]; then
          open+=("$name")
        else
          whole+=("${name//:/\\\\:}${doc:+:$doc}")
        fi
      done < <(\(program) completions --words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
      (( $#whole )) && _describe -t words word whole
      (( $#open )) && compadd -S '' -a open
      (( $#whole + $#open )) || _files
    }
    compdef _\(program) \(program)
    """
  }

  private var fish: String {
    """
    # fish completion for \(program): \(program) completions fish | source
    function __\(program)_words
      set -l words (commandline -opc)
      set -e words[1]
      \(program) completions --words -- $words (commandline -ct) 2>/dev/null
    end
    complete -c \(program) -f
    complete -c \(program) -a '(__\(program)_words)'
    complete -c \(program) -n 'test -z "$(__\(program)_words)"' -F
    """
  }
}
