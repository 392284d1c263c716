<%
    use strict;
    $Response->{ContentType} = 'text/plain';
%><%= join ' ', map { "$_=" . ( $Application->{$_} || 0 ) } qw(started sessions requests cleaned ended) %>
