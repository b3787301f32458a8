#!/bin/sh
# Prints the folder of a JDK 25 or newer, or says in one sentence that there is none.
# mvnw and rmsnorm both ask here, so that they agree.
#
# Versions are read from each JDK's `release` file: starting a JVM to ask would cost more than the rest.
# RMSNORM_JDK_ROOT stands in front of the system folders, so that a test can hide the machine's own.

# With it, cd may go elsewhere and prints where.
unset CDPATH

oldest=25
root=${RMSNORM_JDK_ROOT-}

# version FOLDER: sets $version to the feature release of the JDK there, or 0 if there is none.
version() {
  version=0
  [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 0
  while IFS='=' read -r key value; do
    [ "$key" = JAVA_VERSION ] || continue
    value=${value#\"}
    value=${value%%[!0-9]*}
    [ -z "$value" ] || version=$value
    return 0
  done <"$1/release"
}

accept() {
  printf '%s\n' "$1"
  exit 0
}

if [ -n "${JAVA_HOME-}" ]; then
  version "$JAVA_HOME"
  [ "$version" -lt "$oldest" ] || accept "$JAVA_HOME"
fi

if java=$(command -v java); then
  while [ -L "$java" ]; do
    link=$(readlink "$java")
    case $link in
      /*) java=$link ;;
      *) java=${java%/*}/$link ;;
    esac
  done
  home=$(cd -P "${java%/*}/.." 2>/dev/null && pwd) || home=
  version "$home"
  [ "$version" -lt "$oldest" ] || accept "$home"
fi

# The usual places: exactly the oldest that will do, which is what the project is tested with, else the newest.
best=
best_version=0
for home in \
  "$root"/usr/lib/jvm/* "$root"/usr/lib64/jvm/* "$root"/usr/java/* "$root"/usr/local/java/* \
  "$root"/usr/local/*jdk* "$root"/opt/java/* "$root"/opt/jdk* "$root"/opt/*jdk* \
  "$root"/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home \
  "$root"/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home \
  "$root"/home/linuxbrew/.linuxbrew/opt/openjdk*/libexec \
  "$root"/Library/Java/JavaVirtualMachines/*/Contents/Home \
  "${HOME-}"/Library/Java/JavaVirtualMachines/*/Contents/Home \
  "${SDKMAN_DIR:-${HOME-}/.sdkman}"/candidates/java/* "${HOME-}"/.jdks/* "${HOME-}"/.gradle/jdks/* \
  "${HOME-}"/.local/share/mise/installs/java/* "${HOME-}"/.asdf/installs/java/* \
  "${HOME-}"/.jenv/versions/*; do
  version "$home"
  [ "$version" -ne "$oldest" ] || accept "$home"
  if [ "$version" -gt "$oldest" ] && [ "$version" -gt "$best_version" ]; then
    best=$home
    best_version=$version
  fi
done
[ -z "$best" ] || accept "$best"

if [ -z "$root" ] && [ -x /usr/libexec/java_home ]; then
  home=$(/usr/libexec/java_home -F -v "$oldest+" 2>/dev/null) || home=
  version "$home"
  [ "$version" -lt "$oldest" ] || accept "$home"
fi

echo "rmsnorm4j needs a JDK $oldest or newer and found none: install one (for example Eclipse Temurin $oldest, or" \
  "'sdk install java $oldest-tem' with SDKMAN), or set JAVA_HOME to the folder of one." >&2
exit 1
