/** CNI specification versions whose literal spelling a configuration may carry (cni-spec: VERSION, ADD). */
export const supportedVersions = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const

export type CniVersion = (typeof supportedVersions)[number]

export const latestVersion: CniVersion = '1.1.0'

/** Exact string comparison, as the reference library does: "1.0" and "v1.0.0" are not supported versions. */
export function isSupportedVersion(text: string): text is CniVersion {
  return (supportedVersions as readonly string[]).includes(text)
}

/**
 * The supported version that a number or a text means which is spelt otherwise, such as 1, "1.0" or "v1.0.0": what is left away is
 * 0. undefined where there is none.
 */
export function meantVersion(written: number | string): CniVersion | undefined {
  const parts = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?$/i.exec(String(written).trim())
  const text = parts && [parts[1], parts[2] ?? 0, parts[3] ?? 0].map(Number).join('.')
  return supportedVersions.find(version => version === text)
}

/** The values of CNI_COMMAND; spelling and case are exact. */
export const verbs = ['ADD', 'CHECK', 'DEL', 'GC', 'STATUS', 'VERSION'] as const

export type Verb = (typeof verbs)[number]

export function isVerb(text: string): text is Verb {
  return (verbs as readonly string[]).includes(text)
}

/** First specification version that has a verb; verbs not named here exist in all of them. */
export const verbSince: Partial<Record<Verb, CniVersion>> = { CHECK: '0.4.0', GC: '1.1.0', STATUS: '1.1.0' }
