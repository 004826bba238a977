# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_leafid_global_optspecs
    string join \n h/help V/version
end

function __fish_leafid_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_leafid_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_leafid_using_subcommand
    set -l cmd (__fish_leafid_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c leafid -n "__fish_leafid_needs_command" -s h -l help -d 'Print help'
complete -c leafid -n "__fish_leafid_needs_command" -s V -l version -d 'Print version'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "decode" -d 'Show the parts of ids, from arguments or one per line from standard input'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "compose" -d 'Show the id that has these parts; the opposite of decode'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "at" -d 'Show the first and the last id that a time can have'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "next" -d 'Create new ids, one per line: claims a worker id and releases it at the end'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "check" -d 'Check that this host can create ids: the state directory, its locks, the clock, forks, the layout'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "encrypt" -d 'Encrypt ids to numbers, or texts, that tell nobody how many there are'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "decrypt" -d 'Decrypt what `leafid encrypt` printed, with the same key, version and form'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "state" -d 'Manage the records of worker ids'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "marks" -d 'Manage the marks of segments: every id of a tag below its mark was given'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "file" -d 'Manage directories of counters, the source file:DIR of segments'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "watch" -d 'Watch the worker ids that are held on this host, and the segments of tags'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "bench" -d 'Measure how many ids this host creates, and how long a call lasts'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "completion" -d 'Print the completion script of a shell'
complete -c leafid -n "__fish_leafid_needs_command" -f -a "man" -d 'Print the manual page, for `leafid man | man -l -`'
complete -c leafid -n "__fish_leafid_using_subcommand decode" -l layout -d 'Layout of the ids: a preset\'s name (leaf, uid-generator, yitter, sonyflake, js-safe), or bits of time, worker and sequence such as "41|10|12"' -r
complete -c leafid -n "__fish_leafid_using_subcommand decode" -l epoch-ms -d 'The layout\'s epoch, Unix milliseconds [default: the layout\'s own]' -r
complete -c leafid -n "__fish_leafid_using_subcommand decode" -l form -d 'How ids are written: decimal, base32 (Crockford\'s, 13 characters), base62 (11) or uuid (version 8) [default: decimal]' -r
complete -c leafid -n "__fish_leafid_using_subcommand decode" -l to -d 'The form in which ids are printed [default: as they are read]' -r
complete -c leafid -n "__fish_leafid_using_subcommand decode" -l json -d 'Print each as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand decode" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c leafid -n "__fish_leafid_using_subcommand compose" -l layout -d 'Layout of the ids: a preset\'s name (leaf, uid-generator, yitter, sonyflake, js-safe), or bits of time, worker and sequence such as "41|10|12"' -r
complete -c leafid -n "__fish_leafid_using_subcommand compose" -l epoch-ms -d 'The layout\'s epoch, Unix milliseconds [default: the layout\'s own]' -r
complete -c leafid -n "__fish_leafid_using_subcommand compose" -l form -d 'How ids are written: decimal, base32 (Crockford\'s, 13 characters), base62 (11) or uuid (version 8) [default: decimal]' -r
complete -c leafid -n "__fish_leafid_using_subcommand compose" -l json -d 'Print it as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand compose" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c leafid -n "__fish_leafid_using_subcommand at" -l layout -d 'Layout of the ids: a preset\'s name (leaf, uid-generator, yitter, sonyflake, js-safe), or bits of time, worker and sequence such as "41|10|12"' -r
complete -c leafid -n "__fish_leafid_using_subcommand at" -l epoch-ms -d 'The layout\'s epoch, Unix milliseconds [default: the layout\'s own]' -r
complete -c leafid -n "__fish_leafid_using_subcommand at" -l form -d 'How ids are written: decimal, base32 (Crockford\'s, 13 characters), base62 (11) or uuid (version 8) [default: decimal]' -r
complete -c leafid -n "__fish_leafid_using_subcommand at" -l json -d 'Print each as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand at" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c leafid -n "__fish_leafid_using_subcommand next" -s n -d 'The number of ids' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l worker -d 'The worker id, a range such as 0-31, or "hostname:NAME" [default: LEAFID_WORKER]' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l no-record-wait-ms -d 'How long a start without a record waits for its first id, milliseconds [default: LEAFID_NO_RECORD_WAIT_MS, else 0]' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l tag -d 'Take ids of this tag from segments, not snowflakes' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l server -d 'A server of segments such as http://leaf-1:8080, or file:DIR; can be repeated, the first one is preferred' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l protocol -d 'The servers\' protocol: leaf, leaf-snowflake, range or tinyid [default: leaf]' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l step -d 'How many ids to ask the source for [default: COUNT, at most 1000000; tinyid has its own]' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l block-size -d 'Of a tag called …-xN: N with protocol leaf; else 1, if nobody takes its numbers for blocks of ids' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l token-file -d 'A file with the token that is sent to the servers' -r -F
complete -c leafid -n "__fish_leafid_using_subcommand next" -l ca-file -d 'A PEM file of certificate authorities for the servers' -r -F
complete -c leafid -n "__fish_leafid_using_subcommand next" -l timeout-ms -d 'How long a call waits for a segment, milliseconds [default: 2000]' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l name -d 'The id space [default: default]' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l state-dir -d 'The directory of the records [default: LEAFID_STATE_DIR, STATE_DIRECTORY, /var/lib/leafid, the user\'s own]' -r -F
complete -c leafid -n "__fish_leafid_using_subcommand next" -l layout -d 'Layout of the ids: a preset\'s name (leaf, uid-generator, yitter, sonyflake, js-safe), or bits of time, worker and sequence such as "41|10|12"' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l epoch-ms -d 'The layout\'s epoch, Unix milliseconds [default: the layout\'s own]' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l form -d 'How ids are written: decimal, base32 (Crockford\'s, 13 characters), base62 (11) or uuid (version 8) [default: decimal]' -r
complete -c leafid -n "__fish_leafid_using_subcommand next" -l shared-fs -d 'The state directory may be on a network: its locks work between all hosts that use it'
complete -c leafid -n "__fish_leafid_using_subcommand next" -l exclusive-range -d 'No other container or host was given this range, or all that were share the state directory'
complete -c leafid -n "__fish_leafid_using_subcommand next" -l json -d 'Print each as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand next" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c leafid -n "__fish_leafid_using_subcommand check" -l worker -d 'The worker id, a range such as 0-31, or "hostname:NAME" [default: LEAFID_WORKER]' -r
complete -c leafid -n "__fish_leafid_using_subcommand check" -l no-record-wait-ms -d 'How long a start without a record waits for its first id, milliseconds [default: LEAFID_NO_RECORD_WAIT_MS, else 0]' -r
complete -c leafid -n "__fish_leafid_using_subcommand check" -l name -d 'The id space [default: default]' -r
complete -c leafid -n "__fish_leafid_using_subcommand check" -l state-dir -d 'The directory of the records [default: LEAFID_STATE_DIR, STATE_DIRECTORY, /var/lib/leafid, the user\'s own]' -r -F
complete -c leafid -n "__fish_leafid_using_subcommand check" -l layout -d 'Layout of the ids: a preset\'s name (leaf, uid-generator, yitter, sonyflake, js-safe), or bits of time, worker and sequence such as "41|10|12"' -r
complete -c leafid -n "__fish_leafid_using_subcommand check" -l epoch-ms -d 'The layout\'s epoch, Unix milliseconds [default: the layout\'s own]' -r
complete -c leafid -n "__fish_leafid_using_subcommand check" -l against -d 'An http:// URL of the metrics of another host, or of leafid-server: fails if that has a worker id of this host; can be repeated' -r
complete -c leafid -n "__fish_leafid_using_subcommand check" -l shared-fs -d 'The state directory may be on a network: its locks work between all hosts that use it'
complete -c leafid -n "__fish_leafid_using_subcommand check" -l exclusive-range -d 'No other container or host was given this range, or all that were share the state directory'
complete -c leafid -n "__fish_leafid_using_subcommand check" -l json -d 'Print each as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c leafid -n "__fish_leafid_using_subcommand encrypt" -l key -d 'Where the key is: env:NAME or file:PATH, with 32, 48 or 64 hexadecimal digits, as of `openssl rand -hex 16`' -r
complete -c leafid -n "__fish_leafid_using_subcommand encrypt" -l key-version -d 'The version of the key, 0 to 31' -r
complete -c leafid -n "__fish_leafid_using_subcommand encrypt" -l form -d 'As text, which begins with the version: base32 (14 characters) or base62 (12) [default: numbers]' -r
complete -c leafid -n "__fish_leafid_using_subcommand encrypt" -s h -l help -d 'Print help'
complete -c leafid -n "__fish_leafid_using_subcommand decrypt" -l key -d 'Where the key is: env:NAME or file:PATH, with 32, 48 or 64 hexadecimal digits, as of `openssl rand -hex 16`' -r
complete -c leafid -n "__fish_leafid_using_subcommand decrypt" -l key-version -d 'The version of the key, 0 to 31' -r
complete -c leafid -n "__fish_leafid_using_subcommand decrypt" -l form -d 'As text, which begins with the version: base32 (14 characters) or base62 (12) [default: numbers]' -r
complete -c leafid -n "__fish_leafid_using_subcommand decrypt" -s h -l help -d 'Print help'
complete -c leafid -n "__fish_leafid_using_subcommand state; and not __fish_seen_subcommand_from show reset" -s h -l help -d 'Print help'
complete -c leafid -n "__fish_leafid_using_subcommand state; and not __fish_seen_subcommand_from show reset" -f -a "show" -d 'Show the record of a worker id, and whether it is held; locks nothing'
complete -c leafid -n "__fish_leafid_using_subcommand state; and not __fish_seen_subcommand_from show reset" -f -a "reset" -d 'Give up a record that lies ahead of the clock, so that ids begin at the clock again'
complete -c leafid -n "__fish_leafid_using_subcommand state; and __fish_seen_subcommand_from show" -l name -d 'The id space [default: default]' -r
complete -c leafid -n "__fish_leafid_using_subcommand state; and __fish_seen_subcommand_from show" -l state-dir -d 'The directory of the records [default: LEAFID_STATE_DIR, STATE_DIRECTORY, /var/lib/leafid, the user\'s own]' -r -F
complete -c leafid -n "__fish_leafid_using_subcommand state; and __fish_seen_subcommand_from show" -l json -d 'Print each as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand state; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c leafid -n "__fish_leafid_using_subcommand state; and __fish_seen_subcommand_from reset" -l confirm -d 'The worker id again' -r
complete -c leafid -n "__fish_leafid_using_subcommand state; and __fish_seen_subcommand_from reset" -l name -d 'The id space [default: default]' -r
complete -c leafid -n "__fish_leafid_using_subcommand state; and __fish_seen_subcommand_from reset" -l state-dir -d 'The directory of the records [default: LEAFID_STATE_DIR, STATE_DIRECTORY, /var/lib/leafid, the user\'s own]' -r -F
complete -c leafid -n "__fish_leafid_using_subcommand state; and __fish_seen_subcommand_from reset" -l json -d 'Print it as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand state; and __fish_seen_subcommand_from reset" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c leafid -n "__fish_leafid_using_subcommand marks; and not __fish_seen_subcommand_from show forget" -s h -l help -d 'Print help'
complete -c leafid -n "__fish_leafid_using_subcommand marks; and not __fish_seen_subcommand_from show forget" -f -a "show" -d 'Show the mark of each tag; locks nothing'
complete -c leafid -n "__fish_leafid_using_subcommand marks; and not __fish_seen_subcommand_from show forget" -f -a "forget" -d 'Forget a tag\'s mark, so that its source may give any range again'
complete -c leafid -n "__fish_leafid_using_subcommand marks; and __fish_seen_subcommand_from show" -l name -d 'The id space [default: default]' -r
complete -c leafid -n "__fish_leafid_using_subcommand marks; and __fish_seen_subcommand_from show" -l state-dir -d 'The directory of the records [default: LEAFID_STATE_DIR, STATE_DIRECTORY, /var/lib/leafid, the user\'s own]' -r -F
complete -c leafid -n "__fish_leafid_using_subcommand marks; and __fish_seen_subcommand_from show" -l json -d 'Print each as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand marks; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c leafid -n "__fish_leafid_using_subcommand marks; and __fish_seen_subcommand_from forget" -l protocol -d 'Whose mark it is: range, leaf, leaf-snowflake, tinyid, callback, or file:DIR' -r
complete -c leafid -n "__fish_leafid_using_subcommand marks; and __fish_seen_subcommand_from forget" -l confirm -d 'The tag again' -r
complete -c leafid -n "__fish_leafid_using_subcommand marks; and __fish_seen_subcommand_from forget" -l name -d 'The id space [default: default]' -r
complete -c leafid -n "__fish_leafid_using_subcommand marks; and __fish_seen_subcommand_from forget" -l state-dir -d 'The directory of the records [default: LEAFID_STATE_DIR, STATE_DIRECTORY, /var/lib/leafid, the user\'s own]' -r -F
complete -c leafid -n "__fish_leafid_using_subcommand marks; and __fish_seen_subcommand_from forget" -l json -d 'Print it as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand marks; and __fish_seen_subcommand_from forget" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c leafid -n "__fish_leafid_using_subcommand file; and not __fish_seen_subcommand_from create show" -s h -l help -d 'Print help'
complete -c leafid -n "__fish_leafid_using_subcommand file; and not __fish_seen_subcommand_from create show" -f -a "create" -d 'Create a directory of counters, or counters in an existing one'
complete -c leafid -n "__fish_leafid_using_subcommand file; and not __fish_seen_subcommand_from create show" -f -a "show" -d 'Show the counters of a directory; locks nothing'
complete -c leafid -n "__fish_leafid_using_subcommand file; and __fish_seen_subcommand_from create" -l tag -d 'A tag that gets a counter; can be repeated' -r
complete -c leafid -n "__fish_leafid_using_subcommand file; and __fish_seen_subcommand_from create" -l start -d 'The first id of each given tag; for an existing counter, the smallest next id [default: 1]' -r
complete -c leafid -n "__fish_leafid_using_subcommand file; and __fish_seen_subcommand_from create" -l step -d 'The number of ids of a fetch that requests no number, for each given tag [default: 1000]' -r
complete -c leafid -n "__fish_leafid_using_subcommand file; and __fish_seen_subcommand_from create" -l shared-fs -d 'The directory may be on a network: its locks work between all hosts that use it'
complete -c leafid -n "__fish_leafid_using_subcommand file; and __fish_seen_subcommand_from create" -l shared-group -d 'The members of one group share it: files of mode 0660, directories 2770 [default: LEAFID_SHARED_GROUP]'
complete -c leafid -n "__fish_leafid_using_subcommand file; and __fish_seen_subcommand_from create" -l json -d 'Print each counter as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand file; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c leafid -n "__fish_leafid_using_subcommand file; and __fish_seen_subcommand_from show" -l shared-fs -d 'The directory may be on a network: its locks work between all hosts that use it'
complete -c leafid -n "__fish_leafid_using_subcommand file; and __fish_seen_subcommand_from show" -l json -d 'Print each as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand file; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c leafid -n "__fish_leafid_using_subcommand watch" -l metrics -d 'An http:// URL at which an application serves leafid\'s metrics; can be repeated' -r
complete -c leafid -n "__fish_leafid_using_subcommand watch" -l interval-ms -d 'The time between two looks, milliseconds' -r
complete -c leafid -n "__fish_leafid_using_subcommand watch" -l count -d 'End after this number of looks [default: never]' -r
complete -c leafid -n "__fish_leafid_using_subcommand watch" -l name -d 'The id space [default: default]' -r
complete -c leafid -n "__fish_leafid_using_subcommand watch" -l state-dir -d 'The directory of the records [default: LEAFID_STATE_DIR, STATE_DIRECTORY, /var/lib/leafid, the user\'s own]' -r -F
complete -c leafid -n "__fish_leafid_using_subcommand watch" -l json -d 'Print each look as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c leafid -n "__fish_leafid_using_subcommand bench" -l seconds -d 'How long it measures each, seconds' -r
complete -c leafid -n "__fish_leafid_using_subcommand bench" -l threads -d 'The threads that share one generator' -r
complete -c leafid -n "__fish_leafid_using_subcommand bench" -l name -d 'The id space [default: default]' -r
complete -c leafid -n "__fish_leafid_using_subcommand bench" -l state-dir -d 'The directory of the records [default: LEAFID_STATE_DIR, STATE_DIRECTORY, /var/lib/leafid, the user\'s own]' -r -F
complete -c leafid -n "__fish_leafid_using_subcommand bench" -l layout -d 'Layout of the ids: a preset\'s name (leaf, uid-generator, yitter, sonyflake, js-safe), or bits of time, worker and sequence such as "41|10|12"' -r
complete -c leafid -n "__fish_leafid_using_subcommand bench" -l epoch-ms -d 'The layout\'s epoch, Unix milliseconds [default: the layout\'s own]' -r
complete -c leafid -n "__fish_leafid_using_subcommand bench" -l json -d 'Print it as a line of JSON'
complete -c leafid -n "__fish_leafid_using_subcommand bench" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c leafid -n "__fish_leafid_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c leafid -n "__fish_leafid_using_subcommand man" -s h -l help -d 'Print help'
