import { generateKeyPairSync, randomBytes, sign, type KeyObject, type X509Certificate } from 'node:crypto'
import { addressBits, parseAddress } from '../../../shared/net/address.ts'

/** Who signs: its certificate and its key, which is of RSA or of an elliptic curve. */
export interface Authority {
  readonly certificate: X509Certificate
  readonly key: KeyObject
}

/** Texts in PEM. */
export interface IssuedPair {
  readonly cert: string
  readonly key: string
}

const day = 24 * 60 * 60 * 1000
/** Milliseconds that a certificate is valid for. */
export const issuedFor = 30 * day
/** Milliseconds before its end at which another one takes its place. */
export const renewedBefore = 10 * day
/** Clocks of API servers may be behind by so much. */
const backdated = 60 * 60 * 1000

/** Tags of ASN.1 that a certificate is made of (X.690). */
const tags = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  nothing: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** [0], [3]: version and extensions of a certificate. */
  version: 0xa0,
  extensions: 0xa3,
  /** [2], [7] of a GeneralName. */
  dnsName: 0x82,
  ipAddress: 0x87,
  /** [0] of an AuthorityKeyIdentifier. */
  keyIdentifier: 0x80,
} as const

function lengthOf(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size])
  const bytes = Buffer.from(size.toString(16).padStart(size > 0xff ? 4 : 2, '0'), 'hex')
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes])
}

function encode(tag: keyof typeof tags, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tags[tag]]), lengthOf(content.length), content])
}

/** Object identifiers, encoded as their contents are. */
const oids = {
  ecdsaWithSha256: '2a8648ce3d040302',
  sha256WithRsa: '2a864886f70d01010b',
  commonName: '550403',
  basicConstraints: '551d13',
  keyUsage: '551d0f',
  extendedKeyUsage: '551d25',
  serverAuth: '2b06010505070301',
  subjectAltName: '551d11',
  subjectKeyIdentifier: '551d0e',
  authorityKeyIdentifier: '551d23',
} as const

const oid = (name: keyof typeof oids): Buffer => encode('oid', Buffer.from(oids[name], 'hex'))

/** From 2050 on years have four figures (RFC 5280, 4.1.2.5). */
function timeOf(at: number): Buffer {
  const text = `${new Date(at).toISOString().replaceAll(/[-:T]|\.\d+Z/g, '')}Z`
  return new Date(at).getUTCFullYear() < 2050
    ? encode('utcTime', Buffer.from(text.slice(2)))
    : encode('generalizedTime', Buffer.from(text))
}

const nameOf = (text: string): Buffer =>
  encode('sequence', encode('set', encode('sequence', oid('commonName'), encode('utf8', Buffer.from(text)))))

/** A name or an address, as a GeneralName. */
function subjectOf(host: string): Buffer {
  const address = parseAddress(host)
  if (!address) return encode('dnsName', Buffer.from(host))
  const figures = addressBits[address.family] / 4
  return encode('ipAddress', Buffer.from(address.value.toString(16).padStart(figures, '0'), 'hex'))
}

const yes = encode('boolean', Buffer.from([0xff]))
const extension = (name: keyof typeof oids, value: Buffer, critical: boolean): Buffer =>
  encode('sequence', oid(name), ...(critical ? [yes] : []), encode('octets', value))

/** The parts of an encoded sequence, whole. */
function partsOf(encoded: Buffer): readonly Buffer[] {
  const contentAt = (at: number): { readonly start: number; readonly size: number } => {
    const first = encoded[at + 1] ?? 0
    if (first < 0x80) return { start: at + 2, size: first }
    const count = first & 0x7f
    return { start: at + 2 + count, size: encoded.readUIntBE(at + 2, count) }
  }
  const parts: Buffer[] = []
  for (let at = contentAt(0).start; at < encoded.length;) {
    const { start, size } = contentAt(at)
    parts.push(encoded.subarray(at, start + size))
    at = start + size
  }
  return parts
}

/** What of the certificate of an authority those that it signs refer to. */
interface Signer {
  /** Its name, as it is written: theirs has to have the same bytes. */
  readonly name: Buffer
  /** By which it calls its key; undefined where it does not say. */
  readonly keyIdentifier: Buffer | undefined
}

function signerOf({ raw }: X509Certificate): Signer {
  const [body = Buffer.alloc(0)] = partsOf(raw)
  const parts = partsOf(body)
  // A version stands first, but in the oldest certificates: then serial, algorithm, issuer, validity, subject.
  const name = parts[parts[0]?.[0] === tags.version ? 5 : 4]
  if (!name) throw new Error('the certificate of the authority names nobody')
  const list = parts.find(part => part[0] === tags.extensions)
  const all = list ? partsOf(partsOf(list)[0] ?? Buffer.alloc(0)) : []
  const named = all.map(partsOf).find(([first]) => first?.equals(oid('subjectKeyIdentifier')))
  return { name, keyIdentifier: named?.at(-1)?.subarray(4) }
}

const algorithmOf = ({ asymmetricKeyType: type }: KeyObject): Buffer => {
  if (type === 'rsa') return encode('sequence', oid('sha256WithRsa'), encode('nothing'))
  if (type === 'ec') return encode('sequence', oid('ecdsaWithSha256'))
  throw new Error(`the key of the authority is of type ${type ?? 'unknown'}, and not of rsa or ec`)
}

const pem = (certificate: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(certificate.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`

/**
 * A certificate for a TLS server of this name (RFC 5280), with a key of its own, valid for `issuedFor` from now on, and no longer than
 * its authority.
 *
 * @param host name or address by which clients reach it
 * @param now milliseconds since the epoch
 */
export function issueCertificate(authority: Authority, host: string, now: number): IssuedPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = algorithmOf(authority.key)
  const serial = randomBytes(16)
  // Positive, and of full length.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  const { name, keyIdentifier } = signerOf(authority.certificate)
  const end = Math.min(now + issuedFor, Date.parse(authority.certificate.validTo))
  const extensions = [
    extension('basicConstraints', encode('sequence'), true),
    // Seven bits of the last byte are not used: digitalSignature alone.
    extension('keyUsage', encode('bits', Buffer.from([7, 0x80])), true),
    extension('extendedKeyUsage', encode('sequence', oid('serverAuth')), false),
    ...(keyIdentifier
      ? [
          extension(
            'authorityKeyIdentifier',
            encode('sequence', encode('keyIdentifier', keyIdentifier)),
            false,
          ),
        ]
      : []),
    extension('subjectAltName', encode('sequence', subjectOf(host)), false),
  ]
  const body = encode(
    'sequence',
    encode('version', encode('integer', Buffer.from([2]))),
    encode('integer', serial),
    algorithm,
    name,
    encode('sequence', timeOf(now - backdated), timeOf(end)),
    nameOf('ipkeeper-webhook'),
    publicKey.export({ type: 'spki', format: 'der' }),
    encode('extensions', encode('sequence', ...extensions)),
  )
  const signature = sign('sha256', body, authority.key)
  return {
    cert: pem(encode('sequence', body, algorithm, encode('bits', Buffer.from([0]), signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
