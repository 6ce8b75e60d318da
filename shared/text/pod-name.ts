const dnsLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const dnsSubdomain = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/** Whether Kubernetes lets a pod and its namespace be called so. */
export const isPodName = (namespace: string, name: string): boolean =>
  dnsLabel.test(namespace) && dnsSubdomain.test(name)
