<%
    $Response->{Buffer} = 0;
    print 'first';
    $Response->Flush;
    select undef, undef, undef, 0.01 until -e 'go';
    print 'second';
%>
