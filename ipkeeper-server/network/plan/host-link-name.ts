/** Begins the names of the host's links. */
export const linkPrefix = 'ipk'

const hostLinkName = new RegExp(`^${linkPrefix}[0-9a-f]{12}$`)

/** Whether a link of the host is called as the host's side of a pod's veth is: only root gives such names. */
export function isHostLinkName(name: string): boolean {
  return hostLinkName.test(name)
}
