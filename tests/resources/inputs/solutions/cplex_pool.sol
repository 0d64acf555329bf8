<?xml version = "1.0" encoding="UTF-8" standalone="yes"?>
<CPLEXSolutions version="1.2">
 <CPLEXSolution version="1.2">
  <header
    problemName="m2.mps"
    solutionName="incumbent"
    solutionIndex="-1"
    objectiveValue="5.1799999999999997"
    solutionTypeValue="3"
    solutionTypeString="primal"
    solutionStatusValue="101"
    solutionStatusString="integer optimal solution"
    solutionMethodString="mip"
    primalFeasible="1"
    dualFeasible="1"
    MIPNodes="0"
    MIPIterations="3"
    writeLevel="1"/>
  <quality
    epInt="1.0000000000000001e-05"
    epRHS="9.9999999999999995e-07"
    maxIntInfeas="0"
    maxPrimalInfeas="0"
    maxX="2"
    maxSlack="1"/>
  <linearConstraints>
   <constraint name="ports_1" index="0" slack="1"/>
   <constraint name="need_2" index="1" slack="0"/>
  </linearConstraints>
  <variables>
   <variable name="c1" index="0" value="1"/>
   <variable name="c2" index="1" value="2"/>
   <variable name="c3" index="2" value="0"/>
   <variable name="t4" index="3" value="0.59999999999999964"/>
  </variables>
 </CPLEXSolution>
 <CPLEXSolution version="1.2">
  <header
    problemName="m2.mps"
    solutionName="p2"
    solutionIndex="0"
    objectiveValue="5.1799999999999997"
    solutionTypeValue="3"
    solutionTypeString="primal"
    solutionStatusValue="127"
    solutionStatusString="integer feasible solution"
    solutionMethodString="mip"
    primalFeasible="0"
    dualFeasible="0"
    writeLevel="1"/>
  <quality
    epInt="1.0000000000000001e-05"
    epRHS="9.9999999999999995e-07"
    maxIntInfeas="0"
    maxPrimalInfeas="0"
    maxX="2"
    maxSlack="1"/>
  <linearConstraints>
   <constraint name="ports_1" index="0" slack="1"/>
   <constraint name="need_2" index="1" slack="0"/>
  </linearConstraints>
  <variables>
   <variable name="c1" index="0" value="1"/>
   <variable name="c2" index="1" value="2"/>
   <variable name="c3" index="2" value="0"/>
   <variable name="t4" index="3" value="0.59999999999999964"/>
  </variables>
 </CPLEXSolution>
</CPLEXSolutions>
