extension Syntaxes {
  /// The shells with completions.
  package static let shells = ["bash", "zsh", "fish"]

  /// Returns the completion script for a shell; `nil` for an unknown shell.
  package func completions(for shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    default: nil
    }
  }

  /// The operands that are completed from the daemon, and the command that lists their values.
  private static let asked = [
    "SRC": "get '**' -F '{source}'", "PATTERN": "get '**' -F '{source}'",
    "METHOD": "describe --names", "PATH": "describe --names", "VIEW": "views -r", "ID": "ps -r",
  ]

  private func words(_ syntax: Syntax?) -> String {
    ((syntax?.options ?? []) + options).map { "--" + $0.name }.joined(separator: " ")
  }

  /// Returns the possible operands of a command: fixed words, and the arguments of ``program`` that
  /// list others.
  func choices(_ syntax: Syntax) -> (words: [String], question: String?) {
    let fixed =
      syntax.name == "help"
      ? commands.map(\.name) + topics.map(\.name) : syntax.operands.flatMap(\.choices)
    return (fixed, syntax.operands.lazy.compactMap { Self.asked[$0.name] }.first)
  }

  /// Returns the possible operands of a command: fixed words, and a shell command for others.
  ///
  /// The shell command passes only names that are valid in the protocol. The shell would execute
  /// other text when the user presses enter.
  private func operands(_ syntax: Syntax) -> (words: [String], question: String?) {
    let (fixed, question) = choices(syntax)
    return (fixed, question.map { "\(program) \($0) 2>/dev/null | \(Self.names)" })
  }

  /// A filter for valid names that do not begin like an option.
  private static let names = "LC_ALL=C grep -xE '[A-Za-z0-9_.:][A-Za-z0-9_.:/-]{0,199}'"

  // MARK: Shells

  private var bash: String {
    var text = """
      # bash completion for \(program); for example in ~/.bashrc: . <(\(program) completions bash)
      _\(program)() {
        local word=${COMP_WORDS[COMP_CWORD]} command='' options='\(words(nil))' words='' i name
        for ((i = 1; i < COMP_CWORD; i++)); do
          case ${COMP_WORDS[i]} in
          --*) [[ ${COMP_WORDS[i]} =~ ^(\(valued))$ ]] && ((i++)) ;;
          -*) ;;
          *) command=${COMP_WORDS[i]}; break ;;
          esac
        done
        case $command in
        '') words='\(commands.map(\.name).joined(separator: " "))' ;;

      """
    for syntax in commands {
      let (fixed, question) = operands(syntax)
      text += "  \(syntax.name)) options='\(words(syntax))'"
      if !fixed.isEmpty { text += "; words='\(fixed.joined(separator: " "))'" }
      if let question { text += "; [[ $word == -* ]] || words=$(\(question))" }
      text += " ;;\n"
    }
    text += """
        esac
        [[ $word == -* ]] && words=$options
        COMPREPLY=()
        # Not by compgen -W, which expands the words.
        while IFS= read -r name; do
          [[ -n $name && $name == "$word"* ]] && COMPREPLY+=("$name")
        done <<< "${words// /$'\\n'}"
      }
      complete -o default -F _\(program) \(program)
      """
    return text
  }

  /// The options that take a value, as alternatives of a pattern.
  private var valued: String {
    options.filter { $0.value != nil }.map { "--" + $0.name }.joined(separator: "|")
  }

  private var zsh: String {
    var text = """
      #compdef \(program)
      # zsh completion for \(program); for example in ~/.zshrc: . <(\(program) completions zsh)
      _\(program)() {
        local context state line
        local -a commands
        commands=(

      """
    for syntax in commands { text += "    \(quote("\(syntax.name):\(syntax.summary)"))\n" }
    text += "  )\n  _arguments -C \(zshOptions(options)) '1:command:->command' '*::word:->words'\n"
    text += "  case $state in\n  command) _describe command commands ;;\n  words)\n"
    text += "    case $line[1] in\n"
    for syntax in commands {
      let (fixed, question) = operands(syntax)
      let words = fixed + (question.map { ["${(f)\"$(\($0))\"}"] } ?? [])
      let list = words.map { $0.hasPrefix("$") ? $0 : quote($0) }.joined(separator: " ")
      text += "    \(syntax.name)) _arguments \(zshOptions(syntax.options + options))"
      text +=
        words.isEmpty
        ? " '*:word:_files'" : " '*:word:{ local -a w; w=(\(list.replacingQuotes)); compadd -a w }'"
      text += " ;;\n"
    }
    text += "    esac ;;\n  esac\n}\ncompdef _\(program) \(program)"
    return text
  }

  private func zshOptions(_ options: [Option]) -> String {
    options.map { option in
      let doc = option.doc.filter { !"[]:".contains($0) }
      let value = option.value.map { ":\($0):" } ?? ""
      return quote("--\(option.name)\(value.isEmpty ? "" : "=")[\(doc)]\(value)")
    }.joined(separator: " ")
  }

  private var fish: String {
    let line = "complete -c \(program)"
    let names = commands.map(\.name).joined(separator: " ")
    var text = "# fish completion for \(program): \(program) completions fish | source\n"
    text += "\(line) -f\n"
    for option in options { text += "\(line) \(fishOption(option))\n" }
    for syntax in commands {
      text += "\(line) -n 'not __fish_seen_subcommand_from \(names)' -a \(syntax.name)"
      text += " -d \(quote(syntax.summary))\n"
      let seen = "\(line) -n '__fish_seen_subcommand_from \(syntax.name)'"
      for option in syntax.options { text += "\(seen) \(fishOption(option))\n" }
      let (fixed, question) = operands(syntax)
      if !fixed.isEmpty { text += "\(seen) -a \(quote(fixed.joined(separator: " ")))\n" }
      if let question { text += "\(seen) -a \"(\(question))\"\n" }
    }
    text.removeLast()
    return text
  }

  private func fishOption(_ option: Option) -> String {
    let letter = option.letter.map { "-s \($0) " } ?? ""
    let value = option.value == nil ? "" : "-x "
    return "\(letter)-l \(option.name) \(value)-d \(quote(option.doc))"
  }

  /// Returns a text in single quotes, valid in all three shells.
  private func quote(_ text: String) -> String {
    "'" + text.replacingQuotes + "'"
  }
}

extension String {
  /// The text escaped for use within single quotes.
  fileprivate var replacingQuotes: String {
    split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
  }
}
