/**
 * Before a plugin prints the Result of its ADD it makes an empty file in `answered` of the state folder, named like its
 * run (`invocationId`); a daemon that wants to undo the ADD makes a folder of the same name. Whoever comes first has
 * decided, because both refuse a name that is there.
 */

/** What createIdentity of plugin/run-identity.ts makes up: a path can be made of it, and it is no "." or "..". */
const form = /^[0-9a-z-]{1,128}$/

/** Whether the name of a run may be the name of its mark. */
export function isMarkName(text: string): boolean {
  return form.test(text)
}
