# Prints every place below $1 that knows a kernel family or a chip by name, or
# holds a number of a chip, outside the tables and outside the family's own
# files; then how many names and numbers were looked for.
set -eu
cd "$1"
families=$(sed -n 's/^DISCO_KERNEL_FAMILY(\([a-z0-9_]*\),.*/\1/p' include/disco/KernelFamilies.def)
targets=$(sed -n 's/^DISCO_TARGET(\([a-z0-9_]*\),.*/\1/p' include/disco/Planning/KnownTargets.def)
# Powers of two and small whole numbers are everywhere.
numbers=$(sed -n 's/^DISCO_VALUE([a-z0-9_]*, \([0-9.]*\),.*/\1/p' include/disco/Planning/KnownTargets.def |
  sort -u | awk '{ n = $1; while (n > 1) n /= 2; if (n != 1 && ($1 >= 1000 || $1 ~ /[.]..*[1-9]/)) print }')
compared() { # NAME DIR...
  name=$1
  shift
  grep -rnE --include='*.h' --include='*.cpp' \
    "([!=]=|equals\(|Case\()[[:space:]]*\"$name\"|\"$name\"[[:space:]]*[!=]=" "$@" || true
}
for family in $families; do
  camel=$(echo "$family" | awk -F_ '{ for (i = 1; i <= NF; ++i) printf "%s%s", toupper(substr($i, 1, 1)), substr($i, 2) }')
  compared "$family" include lib tools | grep -v "/$camel[./]" || true
done
for target in $targets; do
  compared "$target" include/disco/Planning lib/Planning lib/Transforms
done
for number in $numbers; do
  grep -rnwF --include='*.h' --include='*.cpp' -e "$number" include/disco/Planning lib/Planning lib/Transforms || true
done
echo "looked for $(echo "$families" | wc -w) families, $(echo "$targets" | wc -w) targets, $(echo "$numbers" | wc -w) numbers"
