export { type AddressClass, classOf } from './address.ts';
export { type HttpClient, type HttpOptions, httpClient, type Resolve } from './client.node.ts';
export { type CredentialSources, readCredential, tokenFileCredentials } from './credentials.node.ts';
export { type Credentials, fixedCredentials, type Header } from './credentials.ts';
export type { Answer } from './exchange.ts';
export { type NatsTarget, natsTarget } from './nats-url.ts';
export {
  type AddressPolicy,
  type Admission,
  AS_WRITTEN,
  admit,
  LOCAL_ADDRESSES,
  onlyPublicAnd,
  proxyOf,
  targetOf,
} from './policy.ts';
export { shownUrl } from './shown-url.ts';
