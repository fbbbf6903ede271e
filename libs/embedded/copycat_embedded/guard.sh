# Ends the processes of a program that is gone. The program holds our standard input open and names the process groups to
# watch, one a line ("+ 123", "- 123"); the system closes it however the program dies, SIGKILL included.
trap '' INT TERM HUP
watched=""
while read -r sign group; do
    case "$sign" in
    +) watched="$watched $group" ;;
    -)
        kept=""
        for each in $watched; do [ "$each" = "$group" ] || kept="$kept $each"; done
        watched="$kept"
        ;;
    esac
done
signal_all() {
    left=""
    for each in $watched; do kill -s "$1" -- "-$each" 2>/dev/null && left="$left $each"; done
}
signal_all TERM
tries=0
while [ -n "$left" ] && [ "$tries" -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
    signal_all 0
done
signal_all KILL
