<%
    use strict;
    $Response->{ContentType} = 'text/plain';
    note('requests');
    $Session->{count}++;
    $Session->Abandon if $Request->QueryString('abandon');
    $Server->RegisterCleanup( sub { note('cleaned') } );
%>session=<%= $Session->SessionID %> count=<%= $Session->{count} %>
