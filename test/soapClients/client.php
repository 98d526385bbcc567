<?php
// The client of PHP's ext-soap: from the WSDL, or without one if the second argument is empty.
// Arguments: endpoint, WSDL, file of cases. test/soapClients/clients.ts parses the output.
[, $endpoint, $wsdl, $cases] = $argv;
$parts = ['reqAuthorisation' => ['usrProxyCert', 'usrAttCert'], 'getTrustedHostInfo' => ['usrRole']];
$options = ['exceptions' => true, 'cache_wsdl' => WSDL_CACHE_NONE, 'features' => SOAP_SINGLE_ELEMENT_ARRAYS];
$client = $wsdl !== ''
    ? new SoapClient($wsdl, $options)
    : new SoapClient(null, ['location' => $endpoint, 'uri' => 'urn:attAuthority', 'style' => SOAP_RPC, 'use' => SOAP_ENCODED] + $options);

function show(string $name, mixed $value): void {
    if (is_array($value)) {
        echo "list $name " . count($value) . "\n";
        foreach ($value as $entry) show('item', $entry);
    } else if (is_string($value)) {
        echo "string $name " . strlen($value) . "\n$value\n";
    } else {
        echo 'other ' . $name . ' ' . strlen(gettype($value)) . "\n" . gettype($value) . "\n";
    }
}

foreach (file($cases, FILE_IGNORE_NEW_LINES) as $case) {
    echo "case\n";
    [$operation, $files] = [explode("\t", $case)[0], array_slice(explode("\t", $case), 1)];
    $values = [];
    foreach ($files as $i => $file) {
        $text = file_get_contents($file);
        $values[] = $wsdl !== '' ? $text : new SoapParam($text, $parts[$operation][$i]);
    }
    try {
        foreach ($client->__soapCall($operation, $values) as $name => $value) show($name, $value);
    } catch (SoapFault $fault) {
        echo "fault {$fault->faultcode} " . strlen($fault->faultstring) . "\n{$fault->faultstring}\n";
    }
}
