// The signed part of an attribute certificate, read from its tree. Judges form only: whether version, names and times
// are any, not what they say.
import { type AttributeContent, type Provenance, secondsOfFields, VERSION } from './content.ts';
import { childrenOf, decimalOf, elementsOf, isPlain, misshapen, plainText } from './shape.ts';
import type { XmlElement } from '../../../data/xml/element.ts';

/**
 * The content of an element `acInfo`: exactly the elements that contentXml writes, in their order, without attributes.
 */
export function contentOf(acInfo: XmlElement): AttributeContent {
  const names = [
    'version',
    'holder',
    'issuer',
    'issuerName',
    'issuerSerialNumber',
    'validity',
    'attributes',
    'provenance',
  ];
  isPlain(acInfo, 'acInfo');
  const [version, holder, issuer, issuerName, issuerSerialNumber, validity, attributes, provenance] = childrenOf(
    acInfo,
    names,
  );
  if (plainText(version!) !== VERSION) misshapen(`is not of version ${VERSION}`);
  isPlain(validity!, 'validity');
  const [notBefore, notAfter] = childrenOf(validity!, ['notBefore', 'notAfter']).map(timeIn);
  return {
    holder: plainText(holder!),
    issuer: plainText(issuer!),
    issuerName: plainText(issuerName!),
    issuerSerialNumber: decimalOf(plainText(issuerSerialNumber!)),
    notBefore: notBefore!,
    notAfter: notAfter!,
    roles: rolesIn(attributes!),
    provenance: provenanceIn(provenance!),
  };
}

function rolesIn(attributes: XmlElement): readonly string[] {
  isPlain(attributes, 'attributes');
  const [roleSet] = childrenOf(attributes, ['roleSet']);
  isPlain(roleSet!, 'roleSet');
  const roles = elementsOf(roleSet!);
  return roles.map((role) => {
    isPlain(role, 'role');
    const name = plainText(childrenOf(role, ['name'])[0]!);
    return name === '' ? misshapen('has a role without a name') : name;
  });
}

function timeIn(element: XmlElement): number {
  return (
    secondsOfFields(plainText(element)) ?? misshapen(`has a ${element.local} that is no time (YYYY MM DD HH MM SS)`)
  );
}

function provenanceIn(element: XmlElement): Provenance {
  const text = plainText(element);
  return text === 'original' || text === 'mapped' ? text : misshapen('has a provenance that is not known');
}
