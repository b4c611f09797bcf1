#!/bin/sh
# Installs a skill from a directory or a Git repository, or lists the skills there.
set -eu

usage() {
    echo "usage: install.sh [--to DIRECTORY] [--replace] SOURCE PATH [NAME]"
    echo "       install.sh --list SOURCE"
    echo "SOURCE: a directory, what git clone takes, or OWNER/REPOSITORY on GitHub; #REF means a branch or tag"
}

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

to="${CODEX_HOME:-}"
[ -n "$to" ] || to=$(cd "$(dirname "$0")/../../../.." && pwd)
to="$to/skills"
list=no
replace=no
while [ $# -gt 0 ]; do
    case "$1" in
        --help) usage; exit 0 ;;
        --list) list=yes ;;
        --replace) replace=yes ;;
        --to) [ $# -gt 1 ] || fail "--to needs a directory"; to="$2"; shift ;;
        --) shift; break ;;
        -*) usage >&2; fail "unknown option $1" ;;
        *) break ;;
    esac
    shift
done
[ $# -ge 1 ] || { usage >&2; exit 2; }
source="$1"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

if [ -d "$source" ]; then
    tree=$(cd "$source" && pwd)
    called=$(basename "$tree")
else
    ref=
    case "$source" in
        *'#'*) ref="${source##*#}"; source="${source%#*}" ;;
    esac
    case "$source" in
        *:*|/*|./*|../*) ;;
        */*/*) fail "$source is neither a directory nor OWNER/REPOSITORY" ;;
        */*) source="https://github.com/$source.git" ;;
        *) fail "$source is neither a directory nor a repository" ;;
    esac
    tree="$scratch/tree"
    called=$(basename "${source%.git}")
    GIT_TERMINAL_PROMPT=0 git clone --quiet --depth 1 ${ref:+--branch "$ref"} -- "$source" "$tree" ||
        fail "cannot clone $source"
fi

if [ "$list" = yes ]; then
    (cd "$tree" && find . -name .git -prune -o -name SKILL.md -type f -print) | sort | while read -r file; do
        directory=$(dirname "$file")
        says=$(sed -n 's/^description: *//p' "$tree/$file" | head -n 1)
        echo "${directory#./}: $says"
    done
    exit 0
fi

[ $# -ge 2 ] || { usage >&2; exit 2; }
path="${2%/}"
case "/$path/" in
    */../*) fail "PATH must not leave the source" ;;
esac
from="$tree/$path"
[ -f "$from/SKILL.md" ] || fail "there is no SKILL.md in $path of $1; --list shows what there is"
from=$(cd "$from" && pwd -P)
case "$from/" in
    "$(cd "$tree" && pwd -P)"/*) ;;
    *) fail "PATH must not leave the source" ;;
esac
name="${3:-}"
[ -n "$name" ] || [ "$path" != . ] || name="$called"
[ -n "$name" ] || name=$(basename "$from")
case "$name" in
    .*|*/*|'') fail "\"$name\" cannot be the name of a skill; give another as NAME" ;;
esac
target="$to/$name"
if [ -e "$target" ]; then
    [ "$replace" = yes ] || fail "$target exists already; --replace puts the new one in its place"
fi

# The copy is made beside its place and takes it in one step, so that no half of a skill is ever found.
mkdir -p "$to"
new=$(mktemp -d "$to/.install-XXXXXX")
trap 'rm -rf "$scratch" "$new"' EXIT
cp -R "$from" "$new/skill"
rm -rf "$new/skill/.git"
if [ -e "$target" ]; then
    mv "$target" "$new/old"
fi
mv "$new/skill" "$target"
echo "installed $target"
