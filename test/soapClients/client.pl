# The client of Perl's SOAP::Lite: from the WSDL, or by proxy if the second argument is empty.
# Arguments: endpoint, WSDL, file of cases. test/soapClients/clients.ts parses the output.
use strict;
use warnings;
use utf8;
use SOAP::Lite;

my ($endpoint, $wsdl, $cases) = @ARGV;
my %parts = (reqAuthorisation => ['usrProxyCert', 'usrAttCert'], getTrustedHostInfo => ['usrRole']);
my $client = SOAP::Lite->new();
if ($wsdl ne '') { $client->service($wsdl); }
$client->proxy($endpoint);
$client->ns('urn:attAuthority') if $wsdl eq '';
$client->on_fault(sub { my ($soap, $answer) = @_; return ref $answer ? $answer : die $soap->transport->status; });
binmode STDOUT;

sub bytes { my ($text) = @_; utf8::encode($text) if utf8::is_utf8($text); return $text; }

sub show {
    my ($name, $value) = @_;
    if (ref $value eq 'ARRAY') {
        print "list $name " . scalar(@$value) . "\n";
        show('item', $_) for @$value;
    } elsif (!defined $value) {
        print "other $name 5\nundef\n";
    } elsif (ref $value) {
        print "other $name " . length(ref $value) . "\n" . ref($value) . "\n";
    } else {
        my $text = bytes($value);
        print "string $name " . length($text) . "\n$text\n";
    }
}

open my $lines, '<', $cases or die $!;
while (my $case = <$lines>) {
    chomp $case;
    print "case\n";
    my ($operation, @files) = split /\t/, $case, -1;
    my @values = map {
        open my $file, '<:encoding(UTF-8)', $_ or die $!;
        local $/;
        my $text = <$file>;
        defined $text ? $text : '';
    } @files;
    my @arguments = map {
        SOAP::Data->name($parts{$operation}[$_])->type('string')->value($values[$_])
    } 0 .. $#values;
    my $method = $wsdl ne '' ? SOAP::Data->name($operation)->attr({ xmlns => 'urn:attAuthority' }) : $operation;
    my $answer = $client->call($method, @arguments);
    if ($answer->fault) {
        my $text = bytes($answer->faultstring);
        print 'fault ' . $answer->faultcode . ' ' . length($text) . "\n$text\n";
        next;
    }
    my $body = $answer->valueof('//Body/[1]');
    show($_, $body->{$_}) for $operation eq 'reqAuthorisation' ? qw(attCert statCode errMsg) : qw(trustedHostInfo errMsg);
}
