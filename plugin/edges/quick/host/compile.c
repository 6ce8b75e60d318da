/* Compiles one script to the bytecode that main.c runs: compile SCRIPT OUTPUT. It runs where the plugin is built. */
#include "quickjs.h"
#include <stdio.h>
#include <stdlib.h>

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return NULL;
  long length = ftell(file);
  char *text = length < 0 ? NULL : malloc((size_t)length + 1);
  rewind(file);
  if (!text || fread(text, 1, (size_t)length, file) != (size_t)length) return NULL;
  text[*size = (size_t)length] = '\0';
  fclose(file);
  return text;
}

int main(int count, char **arguments) {
  size_t size;
  char *text = count == 3 ? read_file(arguments[1], &size) : NULL;
  if (!text) {
    fprintf(stderr, "usage: compile SCRIPT OUTPUT\n");
    return 2;
  }
  JSContext *context = JS_NewContext(JS_NewRuntime());
  JSValue script =
      JS_Eval(context, text, size, "ipkeeper.js", JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY | JS_EVAL_FLAG_STRICT);
  if (JS_IsException(script)) {
    JSValue error = JS_GetException(context);
    JSValue stack = JS_GetPropertyStr(context, error, "stack");
    fprintf(stderr, "compile: %s\n%s", JS_ToCString(context, error), JS_ToCString(context, stack));
    return 1;
  }
  size_t written;
  uint8_t *bytes = JS_WriteObject(context, &written, script, JS_WRITE_OBJ_BYTECODE | JS_WRITE_OBJ_STRIP_SOURCE);
  FILE *file = bytes ? fopen(arguments[2], "wb") : NULL;
  if (!file || fwrite(bytes, 1, written, file) != written || fclose(file)) {
    perror("compile");
    return 1;
  }
  return 0;
}
