/** Pool names reach keys, listings and annotations: lower case, as names of Kubernetes objects (RFC 1123 subdomain). */
export function isPoolName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(text)
}
