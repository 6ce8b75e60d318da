/**
 * A name from the API as one part of a path. Names hold neither "/" nor "%" and are not "." or ".." (API conventions,
 * path segment names); what does is refused, so that no object can lead a request elsewhere.
 */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/%\s]/.test(name) || name.length > 253) {
    throw new RangeError(`${JSON.stringify(name.slice(0, 80))} is no name of an object`)
  }
  return encodeURIComponent(name)
}

/** "v1" -> "/api/v1", "apps/v1" -> "/apis/apps/v1". Throws RangeError for anything else. */
export function groupPath(apiVersion: string): string {
  if (/^v[0-9][a-z0-9]{0,20}$/.test(apiVersion)) return `/api/${apiVersion}`
  if (/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\/[a-z0-9]{1,30}$/.test(apiVersion)) return `/apis/${apiVersion}`
  throw new RangeError(`${JSON.stringify(apiVersion.slice(0, 80))} is no apiVersion`)
}

/** Path of one object, or of all of a resource without a name; without a namespace across all or outside of them. */
export function resourcePath(
  apiVersion: string,
  resource: string,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name?: string } = {},
): string {
  const parts = [
    groupPath(apiVersion),
    ...(namespace === undefined ? [] : ['namespaces', segment(namespace)]),
    segment(resource),
    ...(name === undefined ? [] : [segment(name)]),
  ]
  return parts.join('/')
}
