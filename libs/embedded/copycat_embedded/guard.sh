# Ends the processes of a program that is gone. The program holds our standard input open and names the process groups to
# watch, one a line ("+ 123", "- 123"); the system closes it however the program dies, SIGKILL included.
# A group's leader is asked to end; when it has, or after five seconds, what is left of its group is killed.
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
for each in $watched; do kill -s TERM "$each" 2>/dev/null; done
tries=0
while [ -n "$watched" ] && [ "$tries" -lt 50 ]; do
    left=""
    for each in $watched; do
        if kill -s 0 "$each" 2>/dev/null; then left="$left $each"; else kill -s KILL -- "-$each" 2>/dev/null; fi
    done
    watched="$left"
    [ -z "$watched" ] || sleep 0.1
    tries=$((tries + 1))
done
for each in $watched; do kill -s KILL -- "-$each" 2>/dev/null; done
