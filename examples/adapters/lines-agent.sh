#!/bin/sh
# The program of lines.mjs: it says its prompt back.
echo '{"session":"s-1"}'
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    fail) echo '{"error":"told to"}'; exit 1 ;;
  esac
  printf '{"say":"you said: %s"}\n' "$line"
done
echo '{"done":true}'
